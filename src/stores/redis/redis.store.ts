import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Counter } from '../../core/counter-plan.js';
import type { DegradedLimiter } from '../../core/degraded-limiter.js';
import { type Outcome, RateLimitStore, type Receipt, type StoreEntry } from '../../core/store.js';
import type { StoreEvent } from '../../core/store-event.js';
import { Asked, type Fallback, type RemoteOutcome, type Resolve } from './asked.js';
import { UnreadableError } from './batch.js';
import { openConnection } from './clients/connect.js';
import type { RedisTarget } from './clients/target.js';
import { createDegradedLimiter } from './degraded.js';
import { Dispatcher } from './dispatcher.js';
import { warnOfEviction } from './eviction-policy.js';
import { Health } from './health.js';
import { Instances } from './instances.js';
import { HEARTBEAT } from './lua.js';
import { checkOptions, type RedisStoreOptions } from './options.js';
import { RefusalMemory } from './refusal-memory.js';
import { type RemoteCounter, RemoteCounters } from './remote-counter.js';
import { type Action, BLOCK, CHARGE, GIVE, PEEK, RESET, TAKE } from './request.js';
import { groupsOf } from './slot-walk.js';

/** When it is worth asking again, where the breaker has no better word. */
const RETRY_MILLIS = 1000;

/**
 * Counters in Redis or Valkey: exact over all instances that share the prefix, one round trip a
 * decision. While Redis cannot be asked, each rule does as its `onStoreError` says, and no caller
 * waits longer than `timeoutMillis` for it, nor sees an error.
 */
export class RedisStore extends RateLimitStore {
  readonly name = 'redis';
  private readonly counters: RemoteCounters;
  private readonly dispatcher: Dispatcher;
  private readonly health = new Health();
  private readonly refusals = new RefusalMemory();
  private readonly degraded: DegradedLimiter;
  private readonly instances: Instances;
  private readonly timeoutMillis: number;
  private readonly byClock: boolean;
  /** The last reading of the Clock that came with a question: `reset` comes without. */
  private lastNow = 0;

  /**
   * @param target a client of ioredis, iovalkey or redis (node-redis), of which the store makes a
   * connection of its own; or where to connect to: `{ url }`, `{ nodes }`, `{ sentinels, name }`
   * @throws TypeError or RangeError for a source or options that cannot be
   */
  constructor(target: RedisTarget, options: RedisStoreOptions) {
    super();
    const { prefix, timeoutMillis, time, instances, maxLocalKeys, ...checked } =
      checkOptions(options);
    const { health } = this;
    const anyKey = `${prefix}:`;
    const connection = openConnection(target, {
      connection: checked.connection,
      onError: (error) => this.dispatcher?.noteError(error),
    });
    this.timeoutMillis = timeoutMillis;
    this.byClock = time === 'clock';
    this.counters = new RemoteCounters(prefix, () => connection.cluster);
    this.instances = new Instances(instances, {
      send: (key, command) => connection.send(key, command),
      prefix,
      script: HEARTBEAT,
      onWarning: ({ code, message }) => health.warn(code, message),
    });
    this.degraded = createDegradedLimiter(() => this.instances.count, { maxKeys: maxLocalKeys });
    this.dispatcher = new Dispatcher({
      connection,
      anyKey,
      timeoutMillis,
      health,
      byClock: this.byClock,
      onGiveBack: (counters) => this.refusals.forget(counters),
      onUsable: () => {
        this.instances.start();
        void this.instances.beat();
        void warnOfEviction(connection, anyKey, health);
      },
      onRefusal: ({ counters, count, arrivedAt }, cells, asOf) => {
        const times = { asOf, sentAt: arrivedAt, receivedAt: performance.now() };
        this.refusals.note(counters, cells, { cost: count, ...times });
      },
    });
  }

  /** Whether Redis could be asked now. */
  get connected(): boolean {
    return this.dispatcher.usable;
  }

  /** Never rejects: what Redis cannot decide in time is decided without it, and says so. */
  decide(entries: readonly StoreEntry[], nowMillis: number): Promise<readonly Outcome[]> {
    if (entries.length === 1) {
      return new Promise((resolve) => this.decideEntry(entries[0]!, nowMillis, resolve));
    }
    const one = (entry: StoreEntry) =>
      new Promise<readonly Outcome[]>((resolve) => this.decideEntry(entry, nowMillis, resolve));
    return Promise.all(entries.map(one)).then((outcomes) => outcomes.flat());
  }

  /** Never rejects: what a failure leaves undone stays spent, and a charge dropped. */
  async settle(receipt: Receipt, delta: number, nowMillis: number): Promise<number> {
    if (delta === 0) return 0;
    if ((receipt as Outcome).decision?.degraded) {
      return this.degraded.settle(receipt, delta, nowMillis);
    }
    const { takenAtOf } = receipt as RemoteOutcome;
    const timeOf = ({ key }: RemoteCounter) => takenAtOf?.get(key) ?? receipt.takenAtMillis;
    const action = delta < 0 ? GIVE : CHARGE;
    const what = { count: Math.abs(delta), timeOf };
    const answers = await Promise.allSettled(
      this.change(action, receipt.entry.counters, what, nowMillis),
    );
    const dropped = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value.number : delta,
    );
    return Math.max(0, ...dropped);
  }

  /** @throws what kept Redis from doing it, rejected */
  async reset(counters: readonly Counter[]): Promise<void> {
    await Promise.all(this.change(RESET, counters, { count: 0 }, this.lastNow));
  }

  /** @throws what kept Redis from doing it, rejected */
  async block(counters: readonly Counter[], untilMillis: number, nowMillis: number): Promise<void> {
    const count = Math.max(0, Math.ceil(untilMillis - nowMillis));
    await Promise.all(this.change(BLOCK, counters, { count }, nowMillis));
  }

  override onEvent(listener: (event: StoreEvent) => void): () => void {
    return this.health.listen(listener);
  }

  /**
   * Ends the store's connection; what is under way is decided without it. A Redis that stands still
   * is not waited for longer than for a decision.
   */
  override async close(): Promise<void> {
    if (this.dispatcher.usable) {
      const patience = delay(this.timeoutMillis, undefined, { ref: false });
      await Promise.race([this.instances.close(), patience]);
    }
    this.dispatcher.close();
    this.refusals.clear();
  }

  private decideEntry(entry: StoreEntry, nowMillis: number, resolve: Resolve): void {
    const { cost } = entry;
    const counters = this.remote(entry.counters);
    // Anything else takes nothing, whatever the counters hold.
    const takes =
      entry.mode === 'take' &&
      cost > 0 &&
      counters.every(({ of }) => cost <= of.plan.algorithm.capacity);
    const arrivedAt = performance.now();
    const injected = this.byClock ? nowMillis : undefined;
    this.lastNow = nowMillis;
    if (takes) {
      const known = this.refusals.recall(counters, cost, arrivedAt, injected);
      if (known) {
        resolve([{ entry, decision: known.decision, takenAtMillis: known.asOf }]);
        return;
      }
      this.refusals.forget(counters);
    } else this.refusals.forgetOthers(counters);
    const action = takes ? TAKE : PEEK;
    const times = { clockMillis: nowMillis, nowMillis: injected, arrivedAt };
    this.dispatcher.decide(new Asked(entry, counters, action, times, resolve, this.withoutRedis));
  }

  private readonly withoutRedis: Fallback = (entry, nowMillis, error) => {
    if (error instanceof UnreadableError) this.health.warn('UNREADABLE', error.message);
    const left = this.dispatcher.breakerLeft(nowMillis);
    const decision = this.degraded.decide(entry, nowMillis, left > 0 ? left : RETRY_MILLIS);
    return { entry, decision, takenAtMillis: nowMillis };
  };

  private change(
    action: Action,
    counters: readonly Counter[],
    { count, timeOf = () => 0 }: { count: number; timeOf?: (counter: RemoteCounter) => number },
    nowMillis: number,
  ) {
    const remote = this.remote(counters);
    this.refusals.forget(remote);
    return groupsOf(remote, timeOf).map((counters) =>
      this.dispatcher.change({ action, counters, count, time: timeOf(counters[0]!) }, nowMillis),
    );
  }

  private remote(counters: readonly Counter[]): RemoteCounter[] {
    return counters.map((counter) => this.counters.of(counter));
  }
}
