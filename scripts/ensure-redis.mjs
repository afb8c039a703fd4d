// Before the tests: finds the Redis server that some suites start, or installs it.
//
// REDIS_URL names a server that runs already; else redis-server or valkey-server on the PATH; else,
// as root on Debian or Ubuntu, apt-get brings redis-server. Where none of it holds, the suites say
// loudly that they were skipped, and the rest runs.
import { spawnSync } from 'node:child_process';

const SERVERS = ['redis-server', 'valkey-server'];

function found() {
  return SERVERS.find((server) => spawnSync(server, ['--version']).status === 0);
}

function apt(...args) {
  // RUNLEVEL=1 keeps the package from starting a server of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const { status } = spawnSync('apt-get', ['-qq', '-o', 'Dpkg::Use-Pty=0', ...args], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 240_000,
  });
  return status === 0;
}

if (process.env.REDIS_URL) {
  console.log('Tests use the Redis server of REDIS_URL.');
} else if (!found()) {
  const installs = process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0;
  if (installs) {
    console.log('No redis-server found: installing it with apt-get.');
    if (!apt('install', '-y', '--no-install-recommends', 'redis-server')) {
      apt('update');
      apt('install', '-y', '--no-install-recommends', 'redis-server');
    }
  }
  if (!found()) {
    console.log('\n*** No redis-server or valkey-server: THE SUITES THAT NEED IT ARE SKIPPED. ***');
    console.log('*** Install one, or set REDIS_URL=redis://host:port, to run them.         ***\n');
  }
}
