import fc from 'fast-check';
import { type Counter, planCounters } from '../../src/core/counter-plan.js';
import { type Decision, UNLIMITED } from '../../src/core/decision.js';
import { MemoryStore, Policy } from '../../src/core/index.js';
import { nearLimit, Utilisation } from '../../src/nest/utilisation.js';
import { holds } from '../laws/support.js';

function countersOf(rules: string, label = 'default', who = 'alice'): readonly Counter[] {
  const placed = { policy: Policy.of(rules), place: label, label };
  return planCounters(placed).map((plan) => ({ plan, values: [who] }));
}

/** Takes from a store of its own, at time 0 unless told otherwise. */
function open() {
  const store = new MemoryStore({ maxKeys: 1000 });
  const take = (counters: readonly Counter[], cost = 1, now = 0): Decision =>
    store.decide([{ counters, cost, mode: 'take' }], now)[0]!.decision;
  return { store, take };
}

/** A report, a line a policy: how many, and the steps that are not empty. */
function lines(utilisation: Utilisation): string[] {
  return utilisation.report().map(({ policy, decisions, tenths }) => {
    const steps = tenths.flatMap((count, step) => (count === 0 ? [] : [`${step}×${count}`]));
    return `${policy} ${decisions}: ${steps.join(' ')}`;
  });
}

/** What is noted of decisions of one counter with these numbers. */
function noted(...decisions: readonly Partial<Decision>[]): string[] {
  const { take } = open();
  const counters = countersOf('fixed-window,10,10');
  const decision = take(counters);
  const utilisation = new Utilisation();
  for (const one of decisions) utilisation.note(counters, { ...decision, ...one });
  return lines(utilisation);
}

describe('the utilisation of a policy', () => {
  it('is nothing before anything was decided', () => {
    expect(new Utilisation().report()).toEqual([]);
  });

  it('is counted in ten steps of what is used after each decision, refusals too', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const counters = countersOf('fixed-window,10,10');
    for (let i = 0; i < 12; i++) utilisation.note(counters, take(counters));
    expect(utilisation.report()).toEqual([
      { policy: 'default', decisions: 12, tenths: [0, 1, 1, 1, 1, 1, 1, 1, 1, 4] },
    ]);
  });

  it.each([
    [100, 100, 0],
    [100, 91, 0],
    [100, 90, 1],
    [100, 89, 1],
    [100, 50, 5],
    [100, 11, 8],
    [100, 10, 9],
    [100, 1, 9],
    [100, 0, 9],
    [1, 1, 0],
    [1, 0, 9],
    [3, 2, 3],
    [3, 1, 6],
    [2 ** 53 - 1, 2 ** 53 - 1, 0],
    [2 ** 53 - 1, 0, 9],
  ])('of %d with %d left is in step %d', (limit, remaining, step) => {
    expect(noted({ limit, remaining })).toEqual([`default 1: ${step}×1`]);
  });

  it('of a bucket is rounded up: of one token it is used up until the token is back', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const counters = countersOf('token-bucket,1,10');
    utilisation.note(counters, take(counters));
    utilisation.note(counters, take(counters, 0, 9_999));
    utilisation.note(counters, take(counters, 0, 10_000));
    expect(lines(utilisation)).toEqual(['default 3: 0×1 9×2']);
  });

  it('is counted for each rule of several, by its own name and limit', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const counters = countersOf(
      'fixed-window,2,10 & fixed-window,10,10 & token-bucket,4,10,name=own',
    );
    for (let i = 0; i < 3; i++) utilisation.note(counters, take(counters));
    expect(lines(utilisation)).toEqual([
      'default 3: 5×1 9×2',
      'default-2 3: 1×1 2×2',
      'own 3: 2×1 5×2',
    ]);
  });

  it('is one for all its counters, and for all plans of its name', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const all = [
      countersOf('fixed-window,10,10', 'default', 'alice'),
      countersOf('fixed-window,10,10', 'default', 'bob'),
      countersOf('fixed-window,2,10', 'default', 'alice'),
      countersOf('fixed-window,2,10', 'another', 'alice'),
    ];
    for (const counters of all) utilisation.note(counters, take(counters));
    expect(lines(utilisation).map((line) => line.split(':')[0])).toEqual([
      'another 1',
      'default 3',
    ]);
  });

  it('is reported by name, in the order of the names', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    for (const label of ['b', 'a', 'C', 'a-2', 'é', 'B']) {
      const counters = countersOf('fixed-window,2,10', label);
      utilisation.note(counters, take(counters));
    }
    expect(utilisation.report().map(({ policy }) => policy)).toEqual([
      'B',
      'C',
      'a',
      'a-2',
      'b',
      'é',
    ]);
  });

  it('is reported as it was: later decisions do not change a report', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const counters = countersOf('fixed-window,2,10');
    utilisation.note(counters, take(counters));
    const report = utilisation.report();
    utilisation.note(counters, take(counters));
    expect(report).toEqual([
      { policy: 'default', decisions: 1, tenths: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0] },
    ]);
    expect(lines(utilisation)).toEqual(['default 2: 5×1 9×1']);
  });

  it('of more than 1,000 names is told apart for the first, and one for the others', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    for (let i = 0; i < 1200; i++) {
      const counters = countersOf('fixed-window,2,10', `p${i}`);
      utilisation.note(counters, take(counters));
      utilisation.note(counters, take(counters));
    }
    const again = countersOf('fixed-window,9,10', 'p7');
    utilisation.note(again, open().take(again));
    const told = lines(utilisation);
    expect(told).toHaveLength(1001);
    expect(told).toContain('other 400: 5×200 9×200');
    expect(told).toContain('p999 2: 5×1 9×1');
    expect(told).toContain('p7 3: 1×1 5×1 9×1');
  });

  it.each<[string, Partial<Decision>]>([
    ['the store could not be asked', { degraded: true }],
    ['the store refused', { allowed: false, reason: 'store' }],
    ['nothing is limited', UNLIMITED],
  ])('is not noted where %s', (_why, decision) => {
    expect(noted(decision)).toEqual([]);
  });

  it('is noted of a block, and of what never fits', () => {
    const block = { allowed: false, reason: 'blocked', remaining: 3 } as const;
    const never = { allowed: false, reason: 'never', remaining: 10 } as const;
    expect(noted(block, never)).toEqual(['default 2: 0×1 7×1']);
  });

  it('is not noted where a decision and its counters do not belong together', () => {
    const { take } = open();
    const utilisation = new Utilisation();
    const [one, two] = [
      countersOf('fixed-window,2,10'),
      countersOf('fixed-window,2,10 & fixed-window,3,10'),
    ];
    utilisation.note(two, take(one));
    utilisation.note([], take(one));
    utilisation.note([], UNLIMITED);
    expect(lines(utilisation)).toEqual([]);
  });

  it.each([
    [12, 0],
    [-5, 9],
    [Number.NaN, 0],
  ])('is counted somewhere whatever a store says is left of ten: %d', (remaining, step) => {
    expect(noted({ remaining })).toEqual([`default 1: ${step}×1`]);
  });

  it('adds up: the steps of all policies are the decisions that were noted', () => {
    const call = fc.record({
      rules: fc.constantFrom(
        'token-bucket,5,10',
        'fixed-window,7,10',
        'sliding-window,3,1',
        'sliding-window-counter,1000,60 & token-bucket,1,1,name=shared',
        'fixed-window,2,10 & token-bucket,4,10,name=shared & fixed-window,3,1h',
      ),
      label: fc.constantFrom('a', 'b', 'c'),
      cost: fc.nat(12),
      wait: fc.nat(4000),
      degraded: fc.boolean(),
    });
    holds(
      200,
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const { take } = open();
        const utilisation = new Utilisation();
        const expected = new Map<string, number>();
        let now = 0;
        for (const { rules, label, cost, wait, degraded } of calls) {
          now += wait;
          const counters = countersOf(rules, label);
          const decision = take(counters, cost, now);
          utilisation.note(counters, degraded ? { ...decision, degraded } : decision);
          for (const { plan } of degraded ? [] : counters) {
            expected.set(plan.label, (expected.get(plan.label) ?? 0) + 1);
          }
        }
        const report = utilisation.report();
        for (const { tenths } of report) expect(tenths).toHaveLength(10);
        const sums = report.map(({ policy, tenths }) => [policy, tenths.reduce((a, b) => a + b)]);
        expect(sums).toEqual(report.map(({ policy, decisions }) => [policy, decisions]));
        expect(sums).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
      }),
    );
  });
});

describe('a rule that callers come near', () => {
  /** At which of the takes one is warned: number of the take, used. */
  function warned(rules: string, costs: readonly number[], warnAt: number): string[] {
    const { take } = open();
    const counters = countersOf(rules);
    return costs.flatMap((cost, i) =>
      nearLimit(counters, take(counters, cost), cost, warnAt).map(
        ({ policy, used, limit }) => `${i + 1}: ${policy} ${used}/${limit}`,
      ),
    );
  }

  const ones = (count: number) => Array<number>(count).fill(1);

  it('is told of by the request that comes there, and by no other', () => {
    expect(warned('fixed-window,10,10', ones(12), 0.8)).toEqual(['8: default 8/10']);
  });

  it.each([
    [0.01, 1],
    [0.07, 7],
    [0.07000001, 8],
    [0.28, 28],
    [0.29, 29],
    [0.57, 57],
    [0.58, 58],
    [0.999, 100],
    [1, 100],
  ])('is told of at the very share %d of 100', (warnAt, used) => {
    expect(warned('fixed-window,100,1h', ones(101), warnAt)).toEqual([
      `${used}: default ${used}/100`,
    ]);
  });

  it('is told of by a request that costs much, with all that is used', () => {
    expect(warned('fixed-window,10,10', [7, 3, 1], 0.8)).toEqual(['2: default 10/10']);
    expect(warned('fixed-window,10,10', [10], 0.8)).toEqual(['1: default 10/10']);
  });

  it('is not told of by what takes nothing: a cost of 0 and refusals', () => {
    expect(warned('fixed-window,10,10', [7, 0, 4, 11, 0], 0.8)).toEqual([]);
    expect(warned('fixed-window,10,10', [8, 0, 0, 3], 0.8)).toEqual(['1: default 8/10']);
  });

  it('is told of for each of joined rules', () => {
    const rules = 'fixed-window,2,10 & fixed-window,4,10 & token-bucket,1,10,burst=5,name=own';
    expect(warned(rules, ones(3), 0.4)).toEqual([
      '1: default 1/2',
      '2: default-2 2/4',
      '2: own 2/5',
    ]);
    expect(warned(rules, [2, 1], 0.4)).toEqual([
      '1: default 2/2',
      '1: default-2 2/4',
      '1: own 2/5',
    ]);
  });

  it('is told of again when a bucket that earned comes there again', () => {
    const { take } = open();
    const counters = countersOf('token-bucket,5,10');
    const near = (cost: number, now: number) =>
      nearLimit(counters, take(counters, cost, now), cost, 0.8).map(({ used }) => used);
    expect(near(4, 0)).toEqual([4]);
    // Not a whole token is back: before it, 4 were used already, rounded up.
    expect(near(1, 1999)).toEqual([]);
    expect(near(1, 2000)).toEqual([]);
    expect(near(1, 6000)).toEqual([4]);
  });

  it.each<[string, Partial<Decision>]>([
    ['the store could not be asked', { degraded: true }],
    ['nothing is limited', UNLIMITED],
    ['it was refused', { allowed: false, reason: 'quota' }],
  ])('is not told of where %s', (_why, given) => {
    const { take } = open();
    const counters = countersOf('fixed-window,10,10');
    const decision = take(counters, 9);
    expect(nearLimit(counters, decision, 9, 0.8)).toHaveLength(1);
    expect(nearLimit(counters, { ...decision, ...given }, 9, 0.8)).toEqual([]);
  });

  it('is not told of where a decision and its counters do not belong together', () => {
    const { take } = open();
    const [one, two] = [
      countersOf('fixed-window,1,10'),
      countersOf('fixed-window,1,9 & fixed-window,1,8'),
    ];
    expect(nearLimit(two, take(one), 1, 0.8)).toEqual([]);
    expect(nearLimit([], UNLIMITED, 1, 0.8)).toEqual([]);
  });
});
