import { connect, type Socket } from 'node:net';

export type RespArgument = string | number | Buffer;

/** Strings of either kind are strings; an error inside an array stays an error. */
export type Reply = string | number | null | Error | Reply[];

// Kept from before a suite puts false timers in their place.
const { setTimeout, clearTimeout } = globalThis;

/**
 * Sends commands over a connection of their own and answers the last reply; rejects where any reply
 * is an error. Independent of the clients under test.
 */
export function exchange(
  port: number,
  commands: readonly (readonly RespArgument[])[],
  withinMillis: number,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const giveUp = () =>
      socket.destroy(new Error(`No reply from port ${port} within ${withinMillis} ms`));
    const timer = setTimeout(giveUp, withinMillis);
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`Port ${port} closed the connection without a reply`));
    });
    replies(socket, commands.length, (all) => {
      const error = all.find((reply) => reply instanceof Error);
      if (error) reject(error);
      else resolve(all.at(-1)!);
      socket.destroy();
    });
    socket.write(Buffer.concat(commands.map(encode)));
  });
}

function replies(socket: Socket, count: number, done: (all: Reply[]) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    const all: Reply[] = [];
    let at = 0;
    while (all.length < count) {
      const part = parse(bytes, at);
      if (part === undefined) return;
      all.push(part.reply);
      at = part.end;
    }
    done(all);
  });
}

function encode(args: readonly RespArgument[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

/** One reply that begins at `from`, and where it ends; undefined as long as bytes are missing. */
function parse(bytes: Buffer, from: number): { reply: Reply; end: number } | undefined {
  const lineEnd = bytes.indexOf('\r\n', from);
  if (lineEnd < 0) return undefined;
  const line = bytes.toString('utf8', from + 1, lineEnd);
  const end = lineEnd + 2;
  switch (String.fromCharCode(bytes[from]!)) {
    case '+':
      return { reply: line, end };
    case '-':
      return { reply: new Error(line), end };
    case ':':
      return { reply: Number(line), end };
    case '$':
      return line === '-1' ? { reply: null, end } : parseBulk(bytes, end, Number(line));
    case '*':
      return line === '-1' ? { reply: null, end } : parseArray(bytes, end, Number(line));
    default:
      throw new Error(`Not a reply: ${JSON.stringify(bytes.toString('utf8', from))}`);
  }
}

function parseBulk(bytes: Buffer, from: number, length: number) {
  const end = from + length + 2;
  return bytes.length < end ? undefined : { reply: bytes.toString('utf8', from, end - 2), end };
}

function parseArray(bytes: Buffer, from: number, count: number) {
  const reply: Reply[] = [];
  let end = from;
  while (reply.length < count) {
    const part = parse(bytes, end);
    if (part === undefined) return undefined;
    reply.push(part.reply);
    end = part.end;
  }
  return { reply, end };
}
