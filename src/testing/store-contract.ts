import type { MaybePromise, RateLimitStore } from '../core/store.js';
import { BY_HAND } from './contract/by-hand.js';
import { DECIDING } from './contract/deciding.js';
import { RANDOM_STEPS } from './contract/random-steps.js';
import { SETTLING } from './contract/settling.js';
import { type Case, Subject } from './contract/subject.js';
import { TELLING_APART } from './contract/telling-apart.js';
import { TOGETHER } from './contract/together.js';

/** One case of the contract, for any test runner. */
export interface StoreContractCase {
  /** What holds, as a sentence; each case has its own. */
  readonly name: string;
  /**
   * Makes a store, checks, and closes it.
   *
   * @throws StoreContractError that says what was expected and what the store did; and whatever
   * the store throws
   */
  readonly run: () => Promise<void>;
}

const CASES: readonly Case[] = [
  ...DECIDING,
  ...TOGETHER,
  ...TELLING_APART,
  ...SETTLING,
  ...BY_HAND,
  ...RANDOM_STEPS,
];

/**
 * What every store has to do, as cases for a test runner of your own:
 *
 * ```ts
 * for (const { name, run } of storeContract(() => new MyStore())) it(name, run);
 * ```
 *
 * Each case makes a store of its own. The counters of a case are its own too, so that all stores
 * may keep theirs in one database, which need not be empty; its data is left behind.
 *
 * The time is what the cases hand in as `nowMillis`: it begins in 2026, and goes on by up to years
 * within a moment. A store with a time of its own has to be made to follow it (`RedisStore` with
 * `time: 'clock'`), and must not let data expire by a clock that shows less.
 *
 * @param create makes a store that is ready to decide; called once a case
 */
export function storeContract(
  create: () => MaybePromise<RateLimitStore>,
): readonly StoreContractCase[] {
  return CASES.map(([name, check]) => ({ name, run: () => run(name, check, create) }));
}

async function run(
  name: string,
  check: Case[1],
  create: () => MaybePromise<RateLimitStore>,
): Promise<void> {
  const store = await create();
  try {
    await check(new Subject(store, `${name} ${Math.random()}`));
  } finally {
    await store.close();
  }
}
