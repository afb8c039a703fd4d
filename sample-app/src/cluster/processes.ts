import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

/** How long a process may take to end when it is asked to. */
const GRACE_MILLIS = 3000;

const started: ChildProcess[] = [];

/**
 * Starts a program and reads what it prints until a line matches; answers the first group of that.
 *
 * @throws what kept it from starting, with the last it said
 */
export async function startProcess(
  command: readonly [string, ...string[]],
  ready: RegExp,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program, ...args] = command;
  const env = { ...process.env, ...environment };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${program} ended: ${said.slice(-5).join('\n')}`)));
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line);
        const found = ready.exec(line);
        if (found) resolve(found[1] ?? '');
      });
    }
  });
}

/** Ends what was started and nothing else, the latest first, so that Redis outlives its clients. */
export async function endAll(): Promise<void> {
  for (const child of [...started].reverse()) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MILLIS);
    await ended;
    clearTimeout(timer);
  }
}

/** For a way out that waits for nothing. */
export function killAll(): void {
  for (const child of started) child.kill('SIGKILL');
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
