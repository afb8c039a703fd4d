import { performance } from 'node:perf_hooks';
import { Breaker, type Ticket } from './breaker.js';
import type { Health } from './health.js';
import { SplitError } from './lane.js';
import { Link, type LinkParts } from './link.js';
import type { RemoteCounter } from './remote-counter.js';
import { type Answer, GIVE, type Request, TAKE } from './request.js';
import { groupsOf, inOrder, walk } from './slot-walk.js';

export interface DispatcherParts extends Omit<LinkParts, 'onOutcome'> {
  readonly health: Health;
  /** Whether the Clock's time decides, and not the server's. */
  readonly byClock: boolean;
  /** Told of counters that get back what was taken of them, before they do. */
  readonly onGiveBack: (counters: readonly RemoteCounter[]) => void;
}

type What = Pick<Request, 'action' | 'counters' | 'count' | 'time'>;

const alone = (counter: RemoteCounter) => [counter];

/** A request on several counters, which may turn out to be in different places after all. */
class Together implements Request {
  readonly action;
  readonly counters;
  readonly count;
  readonly time;
  readonly clockMillis;
  readonly nowMillis;
  readonly arrivedAt;
  ticket: Ticket | undefined;

  constructor(
    private readonly request: Request,
    private readonly split: () => void,
  ) {
    this.action = request.action;
    this.counters = request.counters;
    this.count = request.count;
    this.time = request.time;
    this.clockMillis = request.clockMillis;
    this.nowMillis = request.nowMillis;
    this.arrivedAt = request.arrivedAt;
  }

  done(answer: Answer): void {
    this.request.done(answer);
  }

  failed(error: Error): void {
    if (error instanceof SplitError) this.split();
    else this.request.failed(error);
  }
}

/**
 * Sends questions on their way: past the breaker, to the place where their counters are, and from
 * place to place where they are in several.
 */
export class Dispatcher {
  private readonly link: Link;
  private readonly breaker: Breaker;

  constructor(private readonly parts: DispatcherParts) {
    const { health } = parts;
    this.breaker = new Breaker((state) => health.tell({ type: 'breaker', state }));
    this.link = new Link({
      ...parts,
      onOutcome: ({ ticket, clockMillis }, error) => this.noteOutcome(ticket!, clockMillis, error),
    });
  }

  get usable(): boolean {
    return this.link.usable;
  }

  /** Milliseconds until Redis is asked again; 0 when it is. */
  breakerLeft(nowMillis: number): number {
    return this.breaker.leftMillis(nowMillis);
  }

  /** Why the connection is none, for whoever asks meanwhile. */
  noteError(error: Error): void {
    this.link.lastError = error;
  }

  /** Takes or peeks, wherever the counters are. */
  decide(request: Request): void {
    if (this.link.usable || !this.link.whenBooted(() => this.send(request))) this.send(request);
  }

  /** Changes counters that are in one place; one by one, where they are on their way to another. */
  change(what: What, nowMillis: number): Promise<Answer> {
    return this.ask(what, nowMillis).catch(async (error) => {
      if (!(error instanceof SplitError)) throw error;
      const each = what.counters.map((one) => this.ask({ ...what, counters: [one] }, nowMillis));
      const answers = await Promise.all(each);
      return answers.reduce((a, b) => (b.number > a.number ? b : a));
    });
  }

  close(): void {
    this.link.close();
  }

  /** @param arrivedAt whence its time is counted, by this process's monotonic clock */
  private ask(what: What, nowMillis: number, arrivedAt = performance.now()): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.pass({
        action: what.action,
        counters: what.counters,
        count: what.count,
        time: what.time,
        clockMillis: nowMillis,
        nowMillis: this.parts.byClock ? nowMillis : undefined,
        arrivedAt,
        ticket: undefined,
        done: resolve,
        failed: reject,
      });
    });
  }

  private send(request: Request): void {
    const { counters } = request;
    const { slot } = counters[0]!;
    const oneByOne = () => this.walk(request, inOrder(counters.map(alone)));
    if (counters.length === 1) this.pass(request);
    else if (counters.every((counter) => counter.slot === slot)) {
      this.pass(new Together(request, oneByOne));
    } else this.walk(new Together(request, oneByOne), groupsOf(counters));
  }

  private walk(request: Request, groups: readonly (readonly RemoteCounter[])[]): void {
    const { counters, action, count, clockMillis, arrivedAt } = request;
    walk(groups, counters, action === TAKE, count, (one, group, cost, time = 0) => {
      const what = { action: one, counters: group, count: cost, time };
      // Who asked waits once for all groups; what is given back has a time of its own.
      if (one !== GIVE) return this.ask(what, clockMillis, arrivedAt);
      this.parts.onGiveBack(group);
      return this.change(what, clockMillis);
    }).then(
      (answer) => request.done(answer),
      (error) => request.failed(error),
    );
  }

  /** Asks, if the breaker lets it. */
  private pass(request: Request): void {
    const { clockMillis } = request;
    const ticket = this.breaker.admit(clockMillis);
    if (!ticket) {
      request.failed(new Error('Redis was out of reach a moment ago'));
      return;
    }
    if (!this.link.usable) {
      void this.link.sync();
      const error = this.link.lastError ?? new Error('There is no connection to Redis');
      this.noteOutcome(ticket, clockMillis, error);
      request.failed(error);
      return;
    }
    request.ticket = ticket;
    this.link.ask(request);
  }

  private noteOutcome(ticket: Ticket, nowMillis: number, error: Error | undefined): void {
    const { health } = this.parts;
    if (error) {
      health.failed(error, nowMillis);
      this.breaker.failed(ticket, nowMillis);
    } else {
      this.breaker.succeeded(ticket);
      health.succeeded(nowMillis);
    }
  }
}
