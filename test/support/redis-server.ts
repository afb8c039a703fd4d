import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server binary on this machine; undefined where there is none. */
export const redisBinary = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** `describe`, or a loud skip where no server can be started. */
export const describeWithRedis: typeof describe | typeof describe.skip = redisBinary
  ? describe
  : describe.skip;

/** A server of a test's own, on a loopback port, without persistence. */
export class RedisServer {
  private constructor(
    readonly port: number,
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(): Promise<RedisServer> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'doorman-redis-'));
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    const child = spawn(redisBinary!, [...args, '--appendonly', 'no'], { stdio: 'ignore' });
    const server = new RedisServer(port, child, folder);
    const deadline = Date.now() + 10_000;
    while (
      !(await server.send('PING').then(
        (reply) => reply === '+PONG',
        () => false,
      ))
    ) {
      if (Date.now() > deadline) throw new Error('The Redis server does not answer');
    }
    return server;
  }

  /** Sends one inline command over a connection of its own; the first line of the reply. */
  async send(command: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    try {
      socket.write(`${command}\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      return data.toString().split('\r\n')[0]!;
    } finally {
      socket.destroy();
    }
  }

  async stop(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
