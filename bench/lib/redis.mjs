/* A Redis server of a suite's own, on a loopback port, without persistence; it ends with the suite. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Redis from 'ioredis';

export async function startRedis() {
  const port = await freePort();
  const options = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  process.on('exit', () => server.kill('SIGKILL'));
  server.on('error', () => {
    console.error('This part needs redis-server.');
    process.exit(1);
  });
  const client = new Redis(port, { maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  await client.ping();
  return { port, client, cpuMicros: () => cpuMicros(server.pid) };
}

/** Of all its threads; Linux alone tells. */
function cpuMicros(pid) {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanos / 1000;
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Waits until `holds` answers true. */
export async function until(holds) {
  while (!holds()) await pause(5);
}
