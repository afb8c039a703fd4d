import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';
import { type LinkConditions, TcpLink } from './tcp-link.js';

/** Stands between a client and a server on loopback, and fails on command. */
export class TcpProxy implements LinkConditions {
  /** How long every piece is under way, in each direction. */
  delayMillis = 0;
  /** How many bytes pass in a millisecond, in each direction: few of them tear replies into pieces. */
  bytesPerTick = Number.POSITIVE_INFINITY;
  /** Connections accepted so far. */
  accepted = 0;
  frozen: Promise<void> | undefined;
  private endFrost: (() => void) | undefined;
  private loses: string | undefined;
  private listener: Server | undefined;
  private readonly links = new Set<TcpLink>();

  private constructor(
    readonly port: number,
    private readonly target: number,
  ) {}

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), target);
    await proxy.accept();
    return proxy;
  }

  /** Connections that are open now. */
  get open(): number {
    return [...this.links].filter((link) => link.open).length;
  }

  /** Half-open: connections are accepted and stay, no byte and no end passes until `thaw`. */
  freeze(): void {
    this.frozen ??= new Promise((resolve) => {
      this.endFrost = resolve;
    });
  }

  /** What was held back goes on its way. */
  thaw(): void {
    this.frozen = undefined;
    this.endFrost?.();
  }

  /** Destroys all connections; new ones are welcome. */
  cut(): void {
    for (const link of this.links) link.cut();
  }

  /** New connections are refused; those that are open stay. */
  refuse(): void {
    this.listener?.close();
    this.listener = undefined;
  }

  /** Takes connections again, on the same port. */
  async accept(): Promise<void> {
    if (this.listener) return;
    const listener = createServer({ allowHalfOpen: true }, (client) => this.take(client));
    this.listener = listener.listen(this.port, '127.0.0.1');
    await once(listener, 'listening');
  }

  /**
   * The server runs the next request, its reply is lost and the connection with it. With a text: the
   * next that contains it, so that a ping of the client does not take its place.
   */
  dropNextReply(to = ''): void {
    this.loses = to;
  }

  losesReplyTo(request: Buffer): boolean {
    if (this.loses === undefined || !request.includes(this.loses)) return false;
    this.loses = undefined;
    return true;
  }

  async stop(): Promise<void> {
    const closed = this.listener && once(this.listener, 'close');
    this.refuse();
    this.thaw();
    this.cut();
    await closed;
    await Promise.all([...this.links].map((link) => link.closed));
  }

  private take(client: Socket): void {
    this.accepted += 1;
    const link = new TcpLink(client, this.target, this);
    this.links.add(link);
    void link.closed.then(() => this.links.delete(link));
  }
}
