import { performance } from 'node:perf_hooks';
import { Breaker, type Ticket } from './breaker.js';
import type { Health } from './health.js';
import { SplitError } from './lane.js';
import { Link, type LinkParts } from './link.js';
import type { RemoteCounter } from './remote-counter.js';
import { type Answer, PEEK, type Request, TAKE } from './request.js';
import { groupsOf, inOrder, walk } from './slot-walk.js';

export interface DispatcherParts extends Omit<LinkParts, 'onOutcome'> {
  readonly health: Health;
  /** Whether the Clock's time decides, and not the server's. */
  readonly byClock: boolean;
}

/** What is to be decided. */
export interface Question {
  readonly counters: readonly RemoteCounter[];
  /** Whether it takes if it fits. */
  readonly takes: boolean;
  readonly cost: number;
  readonly nowMillis: number;
  readonly arrivedAt: number;
}

type What = Pick<Request, 'action' | 'counters' | 'count' | 'time'>;
type Done = (answer: Answer) => void;
type Failed = (error: Error) => void;

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
      onOutcome: ({ ticket, clockMillis }, error) => this.noteOutcome(ticket, clockMillis, error),
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

  decide(question: Question, done: Done, failed: Failed): void {
    if (this.link.usable || !this.link.whenBooted(() => this.send(question, done, failed))) {
      this.send(question, done, failed);
    }
  }

  ask(what: What, nowMillis: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.pass(what, nowMillis, performance.now(), resolve, reject);
    });
  }

  close(): void {
    this.link.close();
  }

  private send(question: Question, done: Done, failed: Failed): void {
    const { counters, takes, cost, nowMillis, arrivedAt } = question;
    const what = { action: takes ? TAKE : PEEK, counters, count: cost, time: 0 } as const;
    if (counters.length === 1) {
      this.pass(what, nowMillis, arrivedAt, done, failed);
      return;
    }
    const { slot } = counters[0]!;
    if (counters.some((counter) => counter.slot !== slot)) {
      this.walk(question, groupsOf(counters)).then(done, failed);
      return;
    }
    this.pass(what, nowMillis, arrivedAt, done, (error) => {
      if (!(error instanceof SplitError)) failed(error);
      else this.walk(question, inOrder(counters.map((one) => [one]))).then(done, failed);
    });
  }

  private walk(
    { counters, takes, cost, nowMillis }: Question,
    groups: readonly (readonly RemoteCounter[])[],
  ): Promise<Answer> {
    return walk(groups, counters, takes, cost, (action, group, count, time = 0) =>
      this.ask({ action, counters: group, count, time }, nowMillis),
    );
  }

  /** Asks, if the breaker lets it. */
  private pass(what: What, nowMillis: number, arrivedAt: number, done: Done, failed: Failed): void {
    const ticket = this.breaker.admit(nowMillis);
    if (!ticket) {
      failed(new Error('Redis was out of reach a moment ago'));
      return;
    }
    if (!this.link.usable) {
      void this.link.sync();
      const error = this.link.lastError ?? new Error('There is no connection to Redis');
      this.noteOutcome(ticket, nowMillis, error);
      failed(error);
      return;
    }
    const { action, counters, count, time } = what;
    this.link.ask({
      action,
      counters,
      count,
      time,
      clockMillis: nowMillis,
      nowMillis: this.parts.byClock ? nowMillis : undefined,
      arrivedAt,
      ticket,
      done,
      failed,
    });
  }

  private noteOutcome(ticket: Ticket, nowMillis: number, error: Error | undefined): void {
    const { health } = this.parts;
    if (error) {
      health.failed(error);
      this.breaker.failed(ticket, nowMillis);
    } else {
      this.breaker.succeeded(ticket);
      health.succeeded();
    }
  }
}
