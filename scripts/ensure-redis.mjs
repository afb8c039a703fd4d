// Before the tests: finds the Redis server that some suites start, or installs it.
//
// REDIS_URL names a server that runs already; else redis-server or valkey-server on the PATH, with
// the redis-cli or valkey-cli that forms clusters; else, as root on Debian or Ubuntu, apt-get brings
// redis-server, and redis-cli with it. Where none of it holds, the suites say loudly that they were
// skipped, and the rest runs.
import { spawnSync } from 'node:child_process';

function runs(command) {
  return spawnSync(command, ['--version']).status === 0;
}

function found() {
  return ['redis', 'valkey'].some((name) => runs(`${name}-server`) && runs(`${name}-cli`));
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
    console.log('No redis-server with redis-cli found: installing them with apt-get.');
    if (!apt('install', '-y', '--no-install-recommends', 'redis-server')) {
      apt('update');
      apt('install', '-y', '--no-install-recommends', 'redis-server');
    }
  }
  if (!found()) {
    console.log('\n*** No Redis or Valkey with its cli: THE SUITES THAT NEED IT ARE SKIPPED. ***');
    console.log('*** Install one, or set REDIS_URL=redis://host:port, to run them.        ***\n');
  }
}
