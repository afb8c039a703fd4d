import type { Clock } from './clock.js';
import { isPromise } from './maybe-promise.js';
import type { MaybePromise } from './store.js';
import type { Tier } from './tier-rules.js';

/** Times in milliseconds of the clock. */
export interface TiersOptions {
  /** How long an answer is used; 0: it is asked for anew each time, but one at a time. */
  readonly cacheMillis: number;
  /** How long somebody waits for an answer. */
  readonly timeoutMillis: number;
  /** How many users are remembered. Default 100,000. */
  readonly maxEntries?: number;
}

/** Told when answers fail and when they come again: once a change, however many users meet it. */
export interface TiersListener {
  failed(userId: string, error: unknown): void;
  recovered(): void;
}

/** What is known of the tier of a user. */
export interface KnownTier {
  readonly tier: Tier | undefined;
  /** Milliseconds since it was answered. */
  readonly ageMillis: number;
}

/** For so long a user whose look-up failed is not looked up again. */
const PAUSE_MILLIS = 1000;

/** Answers count as recovered after this long without a failure: else each user's would be told. */
const QUIET_MILLIS = 10_000;

const MAX_ENTRIES = 100_000;

interface LookUp {
  /** Resolves to what is to be used, at the latest when the time is up; never rejects. */
  answer: Promise<Tier | undefined>;
  /** After this nobody waits for it any more. */
  readonly deadline: number;
  /** After this another one is begun, and its answer is ignored. */
  readonly givenUpAt: number;
}

interface Entry {
  known: { readonly tier: Tier | undefined; readonly at: number } | undefined;
  /** Until then what is known is used, and nobody asks. */
  freshUntil: number;
  lookUp: LookUp | undefined;
}

/**
 * The tiers of users, asked for elsewhere and remembered here.
 *
 *   fresh ──► used at once            one look-up at a time for each user: all who come meanwhile
 *   else  ──► look-up ──► answer      wait for the same answer, for `timeoutMillis` at most
 *                     └─► failure, or too late ──► what was known last, else no tier
 *
 * Never throws and never rejects: whatever becomes of the tiers, a request is decided.
 */
export class Tiers {
  private readonly entries = new Map<string, Entry>();
  private readonly closing = new AbortController();
  private failing = false;
  private failedAt = 0;

  /**
   * @param resolve asks for the tier of a user
   * @param clock never goes back
   * @param read makes a tier of an answer; throws for one that is none
   */
  constructor(
    private readonly resolve: (userId: string, ctx: unknown) => unknown,
    private readonly clock: Clock,
    private readonly options: TiersOptions,
    private readonly tell: TiersListener,
    private readonly read: (answer: unknown) => Tier | undefined,
  ) {}

  /** The tier of a user; at once where it is known, or answered at once. */
  tierOf(userId: string, ctx?: unknown): MaybePromise<Tier | undefined> {
    const now = this.clock.nowMillis();
    const entry = this.entryOf(userId);
    if (now < entry.freshUntil) return entry.known?.tier;
    const { lookUp } = entry;
    if (!lookUp || now >= lookUp.givenUpAt) return this.ask(userId, entry, ctx, now);
    return now < lookUp.deadline ? lookUp.answer : entry.known?.tier;
  }

  /** What was answered last; undefined when nothing was yet. Asks nobody. */
  known(userId: string): KnownTier | undefined {
    const known = this.entries.get(userId)?.known;
    return known && { tier: known.tier, ageMillis: this.clock.nowMillis() - known.at };
  }

  /** Has the tier of a user asked for again; an answer that is on its way comes from before. */
  invalidate(userId: string): void {
    const entry = this.entries.get(userId);
    if (!entry) return;
    entry.freshUntil = 0;
    entry.lookUp = undefined;
  }

  /** Nobody waits any longer. */
  close(): void {
    this.closing.abort();
  }

  private entryOf(userId: string): Entry {
    let entry = this.entries.get(userId);
    if (!entry) {
      entry = { known: undefined, freshUntil: 0, lookUp: undefined };
      this.makeRoom();
      this.entries.set(userId, entry);
    }
    return entry;
  }

  /** Whoever was answered longest ago goes; one who is being looked up stays, a few aside. */
  private makeRoom(): void {
    const { maxEntries = MAX_ENTRIES } = this.options;
    let left = 8;
    for (const [userId, { lookUp }] of this.entries) {
      if (this.entries.size < maxEntries) return;
      if (!lookUp || --left <= 0) this.entries.delete(userId);
    }
  }

  private ask(
    userId: string,
    entry: Entry,
    ctx: unknown,
    now: number,
  ): MaybePromise<Tier | undefined> {
    try {
      const answer = this.resolve(userId, ctx);
      if (isPromise(answer)) return this.wait(userId, entry, answer, now);
      return this.learn(userId, entry, answer);
    } catch (error) {
      return this.fail(userId, entry, error);
    }
  }

  private wait(
    userId: string,
    entry: Entry,
    promised: Promise<unknown>,
    now: number,
  ): Promise<Tier | undefined> {
    const { cacheMillis, timeoutMillis } = this.options;
    const deadline = now + timeoutMillis;
    const givenUpAt = now + Math.max(cacheMillis, timeoutMillis);
    const answered = new AbortController();
    /** Whether nobody has taken its place. */
    const counts = () => entry.lookUp === lookUp;
    const done = promised.then(
      (answer) => (counts() ? this.learn(userId, entry, answer) : this.late(answer)),
      (error) => (counts() ? this.fail(userId, entry, error) : entry.known?.tier),
    );
    const signal = AbortSignal.any([answered.signal, this.closing.signal]);
    const tooLate = this.clock.sleep(timeoutMillis, signal).then(
      () => {
        if (counts()) this.noteFailure(userId, new Error(`no answer within ${timeoutMillis} ms`));
        return entry.known?.tier;
      },
      () => (this.closing.signal.aborted ? entry.known?.tier : done),
    );
    const answer = Promise.race([done, tooLate]);
    void done.then(() => answered.abort());
    const lookUp: LookUp = { answer, deadline, givenUpAt };
    entry.lookUp = lookUp;
    return answer;
  }

  /** For those who asked before it was invalidated or given up: true then, and not kept. */
  private late(answer: unknown): Tier | undefined {
    try {
      return this.read(answer);
    } catch {
      return undefined;
    }
  }

  private learn(userId: string, entry: Entry, answer: unknown): Tier | undefined {
    let tier: Tier | undefined;
    try {
      tier = this.read(answer);
    } catch (error) {
      return this.fail(userId, entry, error);
    }
    const now = this.clock.nowMillis();
    entry.known = { tier, at: now };
    entry.freshUntil = now + this.options.cacheMillis;
    entry.lookUp = undefined;
    // To the end of the line of those that may have to go.
    this.entries.delete(userId);
    this.entries.set(userId, entry);
    if (this.failing && now >= this.failedAt + QUIET_MILLIS) {
      this.failing = false;
      this.tell.recovered();
    }
    return tier;
  }

  private fail(userId: string, entry: Entry, error: unknown): Tier | undefined {
    entry.freshUntil = this.clock.nowMillis() + PAUSE_MILLIS;
    entry.lookUp = undefined;
    this.noteFailure(userId, error);
    return entry.known?.tier;
  }

  private noteFailure(userId: string, error: unknown): void {
    this.failedAt = this.clock.nowMillis();
    if (this.failing) return;
    this.failing = true;
    this.tell.failed(userId, error);
  }
}
