import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A node of a cluster talks to the others on a second port, this much higher. */
const BUS_OFFSET = 10_000;

/**
 * A loopback port that is free together with its bus port.
 *
 * Both lie below the ports of outgoing connections: a server that is down for a while finds its port
 * again, and a client that tries it meanwhile cannot be connected to itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 20_000);
    if ((await isFree(port)) && (await isFree(port + BUS_OFFSET))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
