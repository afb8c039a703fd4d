/*
 * What is asked in one tick goes out together: at once when nothing is under way, else at the end of
 * the tick, when all that came in with it has asked. A lane is one place that a call may meet: a
 * server, or a slot of a cluster.
 *
 *   asks ──► pending ──(end of tick)──► batches of ≤ 64 entries ──► EVALSHA ──► decisions
 */
import { performance } from 'node:perf_hooks';
import { errorOf } from '../../core/fault.js';
import { Batch, type OnRefusal } from './batch.js';
import type { RedisConnection } from './clients/connection.js';
import type { Request } from './request.js';
import { callScript, startsWith } from './script-call.js';
import type { ServerClock } from './server-clock.js';

export interface LaneParts {
  readonly connection: RedisConnection;
  readonly clock: ServerClock;
  /** From the asking to the answer. */
  readonly timeoutMillis: number;
  readonly onRefusal: OnRefusal;
  /** Told of every call's end, once. */
  readonly onOutcome: (first: Request, error: Error | undefined) => void;
}

export class Lane {
  private pending: Request[] = [];
  /** In the order in which they were sent. */
  private readonly underWay = new Set<Batch>();

  constructor(private readonly parts: LaneParts) {}

  /** Calls back when the request was answered, or could not be in time. */
  ask(request: Request): void {
    if (this.pending.push(request) > 1) return;
    if (this.underWay.size === 0) process.nextTick(this.flush);
    else setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    const asked = this.pending;
    this.pending = [];
    let batch: Batch | undefined;
    for (const request of asked) {
      if (batch && goTogether(batch.first, request) && batch.add(request)) continue;
      if (batch) this.send(batch);
      batch = only(request);
    }
    if (batch) this.send(batch);
  };

  private send(batch: Batch): void {
    const onRefusal: OnRefusal = (request, ...known) => {
      if (!this.askedAfter(batch, request)) this.parts.onRefusal(request, ...known);
    };
    const call = new Call(batch, { ...this.parts, onRefusal });
    this.underWay.add(batch);
    void call.run().then((again) => {
      this.underWay.delete(batch);
      for (const request of again) this.send(only(request));
    });
  }

  /** Whether anything was asked of its counters after that batch. */
  private askedAfter(batch: Batch, { counters }: Request): boolean {
    let later = false;
    for (const other of this.underWay) {
      if (later && other.meets(counters)) return true;
      if (other === batch) later = true;
    }
    return this.pending.some((request) =>
      request.counters.some(({ key }) => counters.some((counter) => counter.key === key)),
    );
  }
}

/** A probe goes alone, and one call has one time. */
function goTogether(first: Request, request: Request): boolean {
  const sent = first.ticket!.kind === 'send' && request.ticket!.kind === 'send';
  return sent && request.nowMillis === first.nowMillis;
}

function only(request: Request): Batch {
  const batch = new Batch();
  batch.add(request);
  return batch;
}

/** Redis did not answer in time. */
export class TimeoutError extends Error {}

/** Its keys are on their way to another node, some here and some there: ask for one at a time. */
export class SplitError extends Error {}

/** One batch under way. */
class Call {
  private over = false;
  private timer: NodeJS.Timeout | undefined;

  /** When whoever waits longest has waited long enough, by this process's monotonic clock. */
  private readonly endsAt: number;

  constructor(
    private readonly batch: Batch,
    private readonly parts: LaneParts,
  ) {
    this.endsAt = batch.arrivedAt + parts.timeoutMillis;
  }

  /** Never rejects. Answers the requests that have to go out again, each alone. */
  async run(): Promise<readonly Request[]> {
    this.watch();
    try {
      const reply = await this.replyInTime();
      if (!this.over) this.finish(undefined, () => this.batch.settle(reply, this.parts.onRefusal));
    } catch (error) {
      if (!this.over && startsWith(error, 'TRYAGAIN')) return this.split();
      if (!this.over) this.fail(errorOf(error));
    } finally {
      clearTimeout(this.timer);
    }
    return [];
  }

  /** A clock that was set forward makes the script believe it is late: then it knows better, once. */
  private async replyInTime(): Promise<readonly number[]> {
    for (let tries = 0; ; tries++) {
      const { connection, clock } = this.parts;
      // The last millisecond that is over by then, since it may act in all of it.
      const deadline = clock.at(this.endsAt - 1);
      const reply = await callScript(connection, this.batch, deadline);
      clock.sample(reply[0]!, performance.now());
      if (reply.length > 1) return reply;
      if (tries === 1 || this.over) throw new TimeoutError('Redis ran the script too late');
    }
  }

  /** A reply may lie unread behind what kept this process busy: it gets one turn of I/O more. */
  private watch(): void {
    const left = Math.ceil(this.endsAt - performance.now());
    this.timer = setTimeout(() => setImmediate(() => this.checkTime()), Math.max(0, left));
  }

  /** Timers may be early, but whoever is told that Redis was not asked must not be counted after. */
  private checkTime(): void {
    if (this.over) return;
    if (performance.now() < this.endsAt) this.watch();
    else this.fail(new TimeoutError('Redis did not answer in time'));
  }

  private fail(error: Error): void {
    this.finish(error, () => this.batch.failed(error));
  }

  private finish(error: Error | undefined, tell: () => void): void {
    this.over = true;
    this.parts.onOutcome(this.batch.first, error);
    tell();
  }

  /** A command on one key is never asked to try again. */
  private split(): readonly Request[] {
    this.over = true;
    const again: Request[] = [];
    for (const request of this.batch.requests) {
      if (request.counters.length === 1) again.push(request);
      else request.failed(new SplitError('The counters are on their way to another node'));
    }
    return again;
  }
}
