import { type Counter, planCounters } from '../../core/counter-plan.js';
import type { Decision } from '../../core/decision.js';
import { Policy } from '../../core/policy.js';
import type { Outcome, RateLimitStore, Receipt, StoreEntry } from '../../core/store.js';
import { holds, same } from './check.js';

export const ALGORITHMS = [
  'token-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-window-counter',
] as const;

/** Where the times of all cases begin: the edge of a second, of a minute, and of a day. */
export const MIDNIGHT = 1_767_225_600_000;
export const YEAR = 365 * 86_400_000;

type Values = readonly string[];
const ALICE: Values = ['alice', '/orders'];

/** A store under test, and shorthands. Times are milliseconds after `MIDNIGHT`. */
export class Subject {
  /** @param place sets the counters of this case apart from those of others in one database */
  constructor(
    readonly store: RateLimitStore,
    private readonly place: string,
  ) {}

  moment(at: number): number {
    return MIDNIGHT + at;
  }

  counters(policy: string, values: Values = ALICE, place = ''): Counter[] {
    const placed = { policy: Policy.of(policy), place: this.place + place, label: 'test' };
    return planCounters(placed).map((plan) => ({ plan, values }));
  }

  entry(policy: string, cost = 1, values?: Values): StoreEntry {
    return { counters: this.counters(policy, values), cost, mode: 'take' };
  }

  /** Asks for one entry; checks that the answer is one, and belongs to it. */
  async ask(entry: StoreEntry, at: number): Promise<Outcome> {
    const outcomes = await this.store.decide([entry], this.moment(at));
    same('how many outcomes one entry has', outcomes?.length, 1);
    const outcome = outcomes[0]!;
    isOf(entry, outcome, this.moment(at));
    return outcome;
  }

  async take(policy: string, at: number, cost = 1, values?: Values): Promise<Decision> {
    return (await this.ask(this.entry(policy, cost, values), at)).decision;
  }

  async peek(policy: string, at: number, cost = 1, values?: Values): Promise<Decision> {
    const entry = { ...this.entry(policy, cost, values), mode: 'peek' as const };
    return (await this.ask(entry, at)).decision;
  }

  /** A take that has to be let in, with its receipt. */
  async spend(policy: string, at: number, cost = 1, values?: Values): Promise<Receipt> {
    const outcome = await this.ask(this.entry(policy, cost, values), at);
    holds(`${policy} lets in ${cost} at ${at} ms`, outcome.decision, { allowed: true });
    return outcome;
  }

  async left(policy: string, at: number, expected: number, values?: Values): Promise<void> {
    const { remaining } = await this.peek(policy, at, 0, values);
    same(`what is left of ${policy} at ${at} ms`, remaining, expected);
  }

  async settle(receipt: Receipt, delta: number, at: number): Promise<number> {
    return this.store.settle(receipt, delta, this.moment(at));
  }

  async block(policy: string, until: number, at: number, values?: Values): Promise<void> {
    await this.store.block(this.counters(policy, values), this.moment(until), this.moment(at));
  }
}

/** @throws StoreContractError unless the outcome is that entry's, as a receipt of that moment */
export function isOf(entry: StoreEntry, { entry: told, takenAtMillis }: Outcome, now: number) {
  same('an outcome is that of its entry', told && briefly(told), briefly(entry));
  same('a receipt tells the time that was handed in', takenAtMillis, now);
}

/** Without the plans, which hold more than can be shown. */
function briefly({ counters, cost, mode }: StoreEntry) {
  return { counters: counters.map(({ plan, values }) => [plan.id, values]), cost, mode };
}

/** A case of the contract: what holds, and what throws where it does not. */
export type Case = readonly [name: string, check: (subject: Subject) => Promise<void>];

/** The same case for each algorithm. */
export function forEachAlgorithm(
  name: string,
  check: (subject: Subject, algorithm: string) => Promise<void>,
): Case[] {
  return ALGORITHMS.map((algorithm) => [
    `${algorithm}: ${name}`,
    (subject) => check(subject, algorithm),
  ]);
}
