import type { Counter } from './counters.js';
import { FixedWindow, SlidingWindow, SlidingWindowCounter, TokenBucket } from './counters.js';
import { largest, smallest } from './search.js';

export type Algorithm =
  | 'token-bucket'
  | 'fixed-window'
  | 'sliding-window'
  | 'sliding-window-counter';

export interface RuleNumbers {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly windowMillis: number;
  /** A bucket's capacity; the limit unless told. */
  readonly burst?: number | undefined;
}

/** One rule's part of an answer. After a take the numbers are those after it, else as things are. */
export interface RuleAnswer {
  readonly allowed: boolean;
  readonly limit: number;
  readonly windowMillis: number;
  readonly remaining: number;
  readonly retryAfterMillis: number;
  readonly resetAfterMillis: number;
  readonly moreAfterMillis: number;
}

export interface Answer extends RuleAnswer {
  readonly reason?: 'quota' | 'never';
  readonly rules: readonly RuleAnswer[];
}

export function capacityOf(rule: RuleNumbers): number {
  return rule.burst ?? rule.limit;
}

function counterOf(rule: RuleNumbers): Counter {
  const limit = BigInt(rule.limit);
  const window = BigInt(rule.windowMillis);
  switch (rule.algorithm) {
    case 'token-bucket':
      return new TokenBucket(limit, window, BigInt(capacityOf(rule)));
    case 'fixed-window':
      return new FixedWindow(limit, window);
    case 'sliding-window':
      return new SlidingWindow(limit, window);
    case 'sliding-window-counter':
      return new SlidingWindowCounter(limit, window);
  }
}

function remaining(counter: Counter, at: bigint): bigint {
  return largest(counter.capacity, (n) => counter.fits(n, at));
}

function retryAfter(counter: Counter, cost: bigint, now: bigint): number {
  if (cost > counter.capacity) return Number.POSITIVE_INFINITY;
  return Number(smallest((r) => counter.fits(cost, now + r)));
}

/** Growing is having room for one more than there is now. */
function moreAfter(counter: Counter, now: bigint): number {
  const left = remaining(counter, now);
  return left === counter.capacity ? 0 : retryAfter(counter, left + 1n, now);
}

function ruleAnswer(before: Counter, after: Counter, cost: bigint, now: bigint): RuleAnswer {
  const allowed = cost === 0n || before.fits(cost, now);
  return {
    allowed,
    limit: Number(before.capacity),
    windowMillis: Number(before.fill),
    remaining: Number(remaining(after, now)),
    retryAfterMillis: allowed ? 0 : retryAfter(before, cost, now),
    resetAfterMillis: Number(smallest((r) => after.isNew(now + r))),
    moreAfterMillis: moreAfter(after, now),
  };
}

/** Joined rules: all spend or none. The numbers combine as the specification says it in words. */
function joined(rules: readonly RuleAnswer[]): Answer {
  const refusing = rules.filter((rule) => !rule.allowed);
  const retryAfterMillis = Math.max(0, ...refusing.map((rule) => rule.retryAfterMillis));
  const least = Math.min(...rules.map((rule) => rule.remaining));
  const scarcest = rules.filter((rule) => rule.remaining === least);
  const oneIsFull = scarcest.some((rule) => rule.remaining === rule.limit);
  const speaks = refusing.find((rule) => rule.retryAfterMillis === retryAfterMillis) ?? scarcest[0];
  return {
    allowed: refusing.length === 0,
    ...(refusing.length > 0 && {
      reason: retryAfterMillis === Number.POSITIVE_INFINITY ? 'never' : 'quota',
    }),
    limit: speaks?.limit ?? 0,
    windowMillis: speaks?.windowMillis ?? 0,
    remaining: least,
    retryAfterMillis,
    resetAfterMillis: Math.max(...rules.map((rule) => rule.resetAfterMillis)),
    moreAfterMillis: oneIsFull ? 0 : Math.max(...scarcest.map((rule) => rule.moreAfterMillis)),
    rules,
  };
}

/** One rule or several that decide together, for one key. Its time goes forward only. */
export class ModelPolicy {
  private counters: readonly Counter[];

  constructor(rules: readonly RuleNumbers[]) {
    this.counters = rules.map(counterOf);
  }

  /** The verdict on `cost`, and the numbers as they are. */
  peek(nowMillis: number, cost = 1): Answer {
    return this.answer(BigInt(nowMillis), BigInt(cost), this.counters);
  }

  tryAcquire(nowMillis: number, cost = 1): Answer {
    const [now, units] = [BigInt(nowMillis), BigInt(cost)];
    const after = this.after(now, units);
    const answer = this.answer(now, units, after);
    this.counters = after;
    return answer;
  }

  /** `n` of what was taken at `takenAtMillis` was not used after all. */
  giveBack(n: number, takenAtMillis: number, nowMillis: number): void {
    const [units, takenAt, now] = [BigInt(n), BigInt(takenAtMillis), BigInt(nowMillis)];
    this.counters = this.counters.map((counter) => counter.givenBack(units, takenAt, now));
  }

  /** The call cost `n` more than it took. Answers how much the weakest rule could not bear. */
  charge(n: number, nowMillis: number): number {
    const [units, now] = [BigInt(n), BigInt(nowMillis)];
    const borne = this.counters.map((counter) => counter.bears(units, now));
    this.counters = this.counters.map((counter, i) => counter.taken(borne[i] ?? 0n, now));
    return n - Math.min(...borne.map(Number));
  }

  private answer(now: bigint, cost: bigint, after: readonly Counter[]): Answer {
    return joined(
      this.counters.map((before, i) => ruleAnswer(before, after[i] ?? before, cost, now)),
    );
  }

  private after(now: bigint, cost: bigint): readonly Counter[] {
    const all = cost > 0n && this.counters.every((counter) => counter.fits(cost, now));
    return all ? this.counters.map((counter) => counter.taken(cost, now)) : this.counters;
  }
}

export function modelOf(rule: RuleNumbers): ModelPolicy {
  return new ModelPolicy([rule]);
}
