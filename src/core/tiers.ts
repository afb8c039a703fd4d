import { BoundedMap } from './bounded-map.js';
import type { Clock } from './clock.js';
import { isPromise } from './maybe-promise.js';
import { SteadyClock } from './steady-clock.js';
import type { MaybePromise } from './store.js';
import { TierHealth, type TiersListener } from './tier-health.js';
import { TierLookUp } from './tier-look-up.js';
import type { Tier } from './tier-rules.js';

/** What was answered last. */
export interface KnownTier {
  readonly tier: Tier | undefined;
  /** Milliseconds since it was answered. */
  readonly ageMillis: number;
}

export interface TiersOptions {
  /**
   * How long an answer holds, from when it came; 30,000 by default. 0: each call asks, but for
   * those that come while the user is being looked up.
   */
  readonly cacheMillis?: number;
  /** How long a call waits for an answer at most; 1000 by default. */
  readonly timeoutMillis?: number;
  /** How many users are remembered, and how many looked up at a time; 100,000 by default. */
  readonly maxEntries?: number;
}

/** Looks up the tier of a user, in whatever form: `read` makes a tier of it. */
export type ResolveTier = (userId: string, ctx: unknown) => MaybePromise<unknown>;

/** An answer, and until when it serves without asking again. */
interface Memory {
  /** The last known answer; undefined as well where there was none. */
  tier: Tier | undefined;
  /** When that answer came; undefined where none has. */
  answeredMillis: number | undefined;
  freshUntilMillis: number;
  /** After a failure nobody asks before this. */
  pausedUntilMillis: number;
}

/** How long a user is not looked up after a failure, in milliseconds. */
const PAUSE_MILLIS = 1000;

/**
 * The tiers of users, looked up elsewhere and kept for a while. A user is looked up by one call at
 * a time, whose answer serves all that come meanwhile. No call waits longer than `timeoutMillis`,
 * and none fails: while there is no answer, the last known one serves, or else none.
 *
 * What is remembered and what is on its way are two lists, so that neither crowds out the other.
 */
export class Tiers {
  private readonly memories: BoundedMap<Memory>;
  /** One for each user who is being looked up; what is not here any more is not remembered. */
  private readonly lookUps: BoundedMap<TierLookUp>;
  /** Those that somebody waits for, also when they are given up. */
  private readonly awaited = new Set<TierLookUp>();
  private readonly health: TierHealth;
  private closed = false;
  private readonly clock: Clock;
  private readonly cacheMillis: number;
  private readonly timeoutMillis: number;

  /**
   * @param resolve may throw, reject or hang
   * @param read makes a tier of what was answered; throws a RateLimitConfigError for what is none
   */
  constructor(
    private readonly resolve: ResolveTier,
    clock: Clock,
    { cacheMillis = 30_000, timeoutMillis = 1000, maxEntries = 100_000 }: TiersOptions,
    tell: TiersListener,
    private readonly read: (answer: unknown) => Tier | undefined,
  ) {
    this.clock = SteadyClock.over(clock);
    this.health = new TierHealth(tell, PAUSE_MILLIS);
    this.cacheMillis = cacheMillis;
    this.timeoutMillis = timeoutMillis;
    this.memories = new BoundedMap(maxEntries);
    this.lookUps = new BoundedMap(maxEntries);
  }

  /**
   * The user's tier; undefined for none. At once where it is known, cannot be asked for now, or is
   * answered at once. Never throws, never rejects.
   *
   * @param ctx handed to the look-up, if this call begins one
   */
  tierOf(userId: string, ctx?: unknown): MaybePromise<Tier | undefined> {
    const memory = this.memories.get(userId);
    const now = this.clock.nowMillis();
    const settled = memory && now < Math.max(memory.freshUntilMillis, memory.pausedUntilMillis);
    if (settled || this.closed) return memory?.tier;
    const lookUp = this.lookUps.get(userId);
    if (!lookUp || lookUp.ageMillis(now) >= Math.max(this.cacheMillis, this.timeoutMillis)) {
      return this.ask(userId, ctx, now);
    }
    const late = lookUp.ageMillis(now) >= this.timeoutMillis;
    return late ? memory?.tier : (lookUp.answer ?? memory?.tier);
  }

  /** The last known answer, however old; undefined where there was none. Asks nobody. */
  known(userId: string): KnownTier | undefined {
    const memory = this.memories.get(userId);
    if (memory?.answeredMillis === undefined) return undefined;
    return { tier: memory.tier, ageMillis: this.clock.nowMillis() - memory.answeredMillis };
  }

  /**
   * The next call asks anew (after a failure, when its pause is over). Those who wait already get
   * the answer that is on its way; it is not remembered.
   */
  invalidate(userId: string): void {
    this.lookUps.delete(userId);
    const memory = this.memories.get(userId);
    if (memory) memory.freshUntilMillis = 0;
  }

  /** Forgets the answers that hold no longer, also as the last known ones. */
  forget(isOver: (tier: Tier | undefined) => boolean): void {
    for (const [userId, { tier }] of this.memories) {
      if (isOver(tier)) this.memories.delete(userId);
    }
  }

  /** Lets go whoever waits, with the last known answers; from now on nobody is asked. */
  close(): void {
    this.closed = true;
    this.lookUps.clear();
    for (const lookUp of this.awaited) this.letGo(lookUp, this.memories.get(lookUp.userId)?.tier);
  }

  private ask(userId: string, ctx: unknown, now: number): MaybePromise<Tier | undefined> {
    const lookUp = new TierLookUp(userId, now, this.clock);
    // Before anything is asked, since whoever is asked may ask for the same tier.
    this.lookUps.set(userId, lookUp);
    try {
      const answer = this.resolve(userId, ctx);
      return isPromise(answer) ? this.wait(lookUp, answer) : this.accept(lookUp, answer);
    } catch (error) {
      return this.fail(lookUp, error);
    }
  }

  private wait(lookUp: TierLookUp, answer: Promise<unknown>): Promise<Tier | undefined> {
    this.awaited.add(lookUp);
    const waited = lookUp.wait();
    void this.whenAnswered(lookUp, answer);
    void this.whenLate(lookUp);
    return waited;
  }

  private async whenAnswered(lookUp: TierLookUp, answer: Promise<unknown>): Promise<void> {
    try {
      this.letGo(lookUp, this.accept(lookUp, await answer));
    } catch (error) {
      this.letGo(lookUp, this.fail(lookUp, error));
    }
  }

  /** It goes on nevertheless: an answer that comes late is remembered as any other. */
  private async whenLate(lookUp: TierLookUp): Promise<void> {
    await lookUp.sleep(this.timeoutMillis);
    if (!this.awaited.has(lookUp)) return;
    const error = new Error(`The tier was not answered within ${this.timeoutMillis} ms`);
    this.letGo(lookUp, this.noteFailure(lookUp, error));
  }

  private letGo(lookUp: TierLookUp, tier: Tier | undefined): void {
    if (this.awaited.delete(lookUp)) lookUp.end(tier);
  }

  /** @throws what `read` throws */
  private accept(lookUp: TierLookUp, answer: unknown): Tier | undefined {
    const tier = this.read(answer);
    const { userId } = lookUp;
    if (this.lookUps.get(userId) !== lookUp) return tier;
    this.lookUps.delete(userId);
    const now = this.clock.nowMillis();
    const freshUntilMillis = now + this.cacheMillis;
    this.memories.set(userId, {
      tier,
      answeredMillis: now,
      freshUntilMillis,
      pausedUntilMillis: 0,
    });
    this.health.succeeded(userId, now);
    return tier;
  }

  private fail(lookUp: TierLookUp, error: unknown): Tier | undefined {
    const tier = this.noteFailure(lookUp, error);
    if (this.lookUps.get(lookUp.userId) === lookUp) this.lookUps.delete(lookUp.userId);
    return tier;
  }

  /** Returns the last known answer. */
  private noteFailure(lookUp: TierLookUp, error: unknown): Tier | undefined {
    const { userId } = lookUp;
    const memory = this.memories.get(userId);
    if (this.lookUps.get(userId) !== lookUp) return memory?.tier;
    const now = this.clock.nowMillis();
    const pausedUntilMillis = now + PAUSE_MILLIS;
    if (memory) memory.pausedUntilMillis = pausedUntilMillis;
    else {
      const nothing = { tier: undefined, answeredMillis: undefined, freshUntilMillis: 0 };
      this.memories.set(userId, { ...nothing, pausedUntilMillis });
    }
    this.health.failed(userId, error, now);
    return memory?.tier;
  }
}
