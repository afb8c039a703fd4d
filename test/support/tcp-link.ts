import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
// Not the global one: a suite may have put a false one in its place.
import { setTimeout as pause } from 'node:timers/promises';

/** What a link asks anew for every piece. */
export interface LinkConditions {
  readonly delayMillis: number;
  readonly bytesPerTick: number;
  /** While nothing passes: settles when it does again. */
  readonly frozen: Promise<void> | undefined;
  /** Whether this request is the one whose reply is to be lost. */
  losesReplyTo(request: Buffer): boolean;
}

/** One connection through the proxy: what enters on one side leaves on the other, later, in order. */
export class TcpLink {
  readonly closed: Promise<unknown>;
  private readonly server: Socket;
  private readonly cutting = new AbortController();
  private losesReply = false;

  constructor(
    private readonly client: Socket,
    port: number,
    private readonly conditions: LinkConditions,
  ) {
    this.server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.closed = Promise.all([closeOf(client), closeOf(this.server)]);
    this.join(client, this.server, (bytes) => this.request(bytes));
    this.join(this.server, client, (bytes) => this.reply(bytes));
  }

  get open(): boolean {
    return !this.client.destroyed;
  }

  cut(): void {
    this.cutting.abort();
    this.client.destroy();
    this.server.destroy();
  }

  private join(from: Socket, to: Socket, carry: (bytes: Buffer) => Promise<void>): void {
    let last = Promise.resolve();
    const inOrder = (act: () => unknown) => {
      const due = performance.now() + this.conditions.delayMillis;
      last = last
        .then(() => this.passage(due))
        .then(async () => {
          if (!this.cutting.signal.aborted) await act();
        })
        .catch(() => this.cut());
    };
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => inOrder(() => carry(bytes)));
    from.on('end', () => inOrder(() => to.end()));
    from.on('error', () => inOrder(() => this.cut()));
  }

  /** Waits until a piece may leave. */
  private async passage(due: number): Promise<void> {
    const early = due - performance.now();
    if (early > 0) await pause(early, undefined, { signal: this.cutting.signal });
    while (this.conditions.frozen !== undefined) await this.conditions.frozen;
  }

  private async request(bytes: Buffer): Promise<void> {
    if (this.conditions.losesReplyTo(bytes)) this.losesReply = true;
    await this.write(this.server, bytes);
  }

  private async reply(bytes: Buffer): Promise<void> {
    if (!this.losesReply) return this.write(this.client, bytes);
    this.client.destroy();
    // Not destroyed as well, so that the server still reads all that was sent to it.
    this.server.end();
  }

  private async write(to: Socket, bytes: Buffer): Promise<void> {
    const { signal } = this.cutting;
    const { bytesPerTick } = this.conditions;
    for (let at = 0; at < bytes.length; at += bytesPerTick) {
      if (at > 0) await pause(1, undefined, { signal });
      const goesOn = to.write(bytes.subarray(at, at + bytesPerTick));
      if (!goesOn) await once(to, 'drain', { signal });
    }
  }
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
