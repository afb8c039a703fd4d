import fc from 'fast-check';
import type { CounterPlan, Decision, Outcome, StoreEntry } from '../../src/core/index.js';
import { LimiterFactory, MemoryStore } from '../../src/core/index.js';
import { FakeClock } from '../../src/testing/index.js';
import type { RuleNumbers } from '../model/model.js';
import { capacityOf, ModelPolicy } from '../model/model.js';
import type { Step } from './support.js';
import {
  ALGORITHMS,
  FAR_ENDS,
  holds,
  joinedRules,
  lineOf,
  play,
  rulesOf,
  starts,
  steps,
  textOf,
} from './support.js';

/** Keeps the receipts of what was let in, on both of the ways that lead into the store. */
class ReceiptKeeper extends MemoryStore {
  readonly receipts: Outcome[] = [];

  override decide(entries: readonly StoreEntry[], nowMillis: number): readonly Outcome[] {
    const outcomes = super.decide(entries, nowMillis);
    for (const outcome of outcomes) this.keep(outcome);
    return outcomes;
  }

  override decideKey(
    plan: CounterPlan,
    key: string,
    cost: number,
    mode: StoreEntry['mode'],
    nowMillis: number,
  ): Decision {
    const decision = super.decideKey(plan, key, cost, mode, nowMillis);
    const entry: StoreEntry = { counters: [{ plan, values: [key] }], cost, mode };
    this.keep({ entry, takenAtMillis: nowMillis, decision });
    return decision;
  }

  private keep(outcome: Outcome): void {
    const { decision, entry } = outcome;
    if (decision.allowed && entry.mode === 'take' && entry.cost > 0) this.receipts.push(outcome);
  }
}

/** What becomes of a receipt: given back in whole or in part, or charged more. */
function deltaOf(cost: number, pick: number): number {
  const deltas = [-cost, -(pick % (cost + 1)), 1, pick % 7, cost, cost * 3];
  return deltas[pick % deltas.length] ?? 0;
}

/** Plays the script with two keys, settles every now and then, and answers how often it did. */
function expectTheModelsSettling(
  rules: readonly RuleNumbers[],
  start: number,
  script: readonly Step[],
): number {
  const clock = new FakeClock(start);
  const callers = ['alice', 'bob'].map((key) => ({ key, model: new ModelPolicy(rules) }));
  const store = new ReceiptKeeper({ maxKeys: 10_000 });
  const limiter = new LimiterFactory(clock, store).createKeyed(textOf(rules));
  const [got, expected]: [string[], string[]] = [[], []];
  let settled = 0;

  const settle = (receipt: Outcome, now: number, pick: number) => {
    const { entry, takenAtMillis } = receipt;
    const whose = callers.find(({ key }) => entry.counters[0]?.values.includes(key));
    if (whose === undefined) throw new Error('a receipt is of one of the keys');
    const { key, model } = whose;
    const delta = deltaOf(entry.cost, pick);
    const call = `at ${now} ${delta} on ${entry.cost} of ${key}'s at ${takenAtMillis} →`;
    got.push(`${call} ${store.settle(receipt, delta, now)} dropped`);
    if (delta < 0) model.giveBack(-delta, takenAtMillis, now);
    expected.push(`${call} ${delta < 0 ? 0 : model.charge(delta, now)} dropped`);
    settled++;
  };

  play(rules, start, script, (now, cost, { pick }) => {
    clock.set(now);
    const whose = callers[pick % 7 === 0 ? 1 : 0];
    if (whose === undefined) throw new Error('there are two keys');
    const { key, model } = whose;
    const [receipt] = store.receipts.splice(pick % (2 * store.receipts.length + 1), 1);
    if (receipt) settle(receipt, now, pick);
    got.push(`at ${now} ${key} peeks → ${lineOf(limiter.peek(key, 0))}`);
    expected.push(`at ${now} ${key} peeks → ${lineOf(model.peek(now, 0))}`);
    const answer = model.tryAcquire(now, cost);
    got.push(`at ${now} ${key} takes ${cost} → ${lineOf(limiter.tryAcquire(key, cost))}`);
    expected.push(`at ${now} ${key} takes ${cost} → ${lineOf(answer)}`);
    return answer;
  });
  expect(got).toEqual(expected);
  return settled;
}

/** An overdrawn bucket is full twice its filling time later: still a moment that a Date can hold. */
const overdrawable = FAR_ENDS.filter(
  (rule) => (capacityOf(rule) / rule.limit) * rule.windowMillis < 8.64e15 / 2,
);

describe('settling a take', () => {
  const holdsFor = (numRuns: number, anyRules: fc.Arbitrary<readonly RuleNumbers[]>) => {
    let settled = 0;
    const law = fc.property(anyRules, starts, steps, (rules, start, script) => {
      settled += expectTheModelsSettling(rules, start, script);
    });
    holds(numRuns, law);
    expect(settled).toBeGreaterThan(2 * numRuns);
  };

  it.each(ALGORITHMS)('leaves a key of %s as the model says it', (algorithm) => {
    holdsFor(
      400,
      rulesOf(algorithm).map((rule) => [rule]),
    );
  });

  it('settles with each of joined rules', () => {
    holdsFor(400, joinedRules);
  });

  it.each(overdrawable)(
    'holds at the far ends: $limit per $windowMillis ms, $algorithm',
    (rule) => {
      holdsFor(40, fc.constant([rule]));
    },
  );
});
