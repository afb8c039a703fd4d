import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { freePort } from '../../../support/free-port.js';

/**
 * A way to a server whose clock is wrong by as much as the test says: what asks for its time, by
 * TIME or in a script, is changed on its way there. Its scripts run as they are otherwise.
 */
export class SteppedServer {
  /** Milliseconds by which the server's clock is ahead. */
  stepMillis = 0;
  private readonly sockets = new Set<Socket>();
  private listener: Server | undefined;

  private constructor(
    readonly port: number,
    private readonly target: number,
  ) {}

  static async over(target: number): Promise<SteppedServer> {
    const stepped = new SteppedServer(await freePort(), target);
    const listener = createServer((client) => stepped.take(client));
    stepped.listener = listener;
    await new Promise<void>((resolve) => listener.listen(stepped.port, '127.0.0.1', resolve));
    return stepped;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.listener?.close(resolve));
  }

  private take(client: Socket): void {
    const server = dial(this.target, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    server.pipe(client);
    let bytes: Buffer = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let part = readCommand(bytes); part; part = readCommand(bytes)) {
        bytes = bytes.subarray(part.end);
        server.write(encode(this.changed(part.words)));
      }
    });
  }

  private changed([name = '', ...args]: string[]): string[] {
    const seconds = this.stepMillis / 1000;
    const time = `(function() local t = redis.call('TIME') return { tostring(t[1] + ${seconds}), t[2] } end)()`;
    if (name.toUpperCase() === 'TIME') return ['EVAL', `return ${time}`, '0'];
    if (name.toUpperCase() !== 'EVAL') return [name, ...args];
    const [script = '', ...rest] = args;
    return ['EVAL', script.replace("call('TIME')", time), ...rest];
  }
}

/** The first command, and where it ends; undefined as long as bytes are missing. */
function readCommand(bytes: Buffer): { words: string[]; end: number } | undefined {
  let at = 0;
  const line = () => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const text = bytes.toString('latin1', at + 1, end);
    at = end + 2;
    return Number(text);
  };
  const count = line();
  if (count === undefined) return undefined;
  const words: string[] = [];
  while (words.length < count) {
    const length = line();
    if (length === undefined || bytes.length < at + length + 2) return undefined;
    words.push(bytes.toString('latin1', at, at + length));
    at += length + 2;
  }
  return { words, end: at };
}

function encode(words: readonly string[]): Buffer {
  const parts = words.map((word) => `$${word.length}\r\n${word}\r\n`);
  return Buffer.from(`*${words.length}\r\n${parts.join('')}`, 'latin1');
}
