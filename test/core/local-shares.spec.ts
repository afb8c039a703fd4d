import fc from 'fast-check';
import { algorithmKind } from '../../src/core/algorithms/index.js';
import { EXACT_BOUND } from '../../src/core/algorithms/integers.js';
import { type CounterPlan, planCounters } from '../../src/core/counter-plan.js';
import { LocalShares } from '../../src/core/local-shares.js';
import { Policy } from '../../src/core/policy.js';
import type { Rule } from '../../src/core/rule.js';
import { ALGORITHMS } from '../laws/support.js';

const planOf = (policy: string): CounterPlan =>
  planCounters({ policy: Policy.of(policy), place: 'default', label: 'default' })[0]!;

const shareOf = (policy: string, instances: number) =>
  new LocalShares().of(planOf(policy), instances);

const isExact = (rule: Rule) => algorithmKind(rule.algorithm)!.largestInteger(rule) < EXACT_BOUND;

describe('the share of one instance', () => {
  it.each([
    ['token-bucket,100,60,burst=250', 3, { limit: 33, burst: 83, windowMillis: 60_000 }],
    ['token-bucket,5,10', 8, { limit: 1, burst: 1, windowMillis: 10_000 }],
    ['fixed-window,7,1', 2, { limit: 3, burst: undefined, windowMillis: 1000 }],
    ['sliding-window,9,1h', 9, { limit: 1, burst: undefined, windowMillis: 3_600_000 }],
    ['sliding-window-counter,9,1h', 1, { limit: 9, burst: undefined, windowMillis: 3_600_000 }],
  ])('of %s, of %d, is %o', (policy, instances, expected) => {
    expect(shareOf(policy, instances).rule).toMatchObject(expected);
  });

  it('is the same counter under the same name', () => {
    const plan = planOf('fixed-window,9,1h,name=orders');
    const share = new LocalShares().of(plan, 3);
    const { id, seedLo, seedHi, label, by, placeIsApi } = plan;
    expect(share).toMatchObject({ id, seedLo, seedHi, label, by, placeIsApi });
  });

  it('is made once for a number of instances', () => {
    const shares = new LocalShares();
    const plan = planOf('fixed-window,9,1h');
    const share = shares.of(plan, 3);
    expect(shares.of(plan, 3)).toBe(share);
    expect(shares.of(plan, 2)).not.toBe(share);
    expect(shares.of(plan, 3)).toStrictEqual(share);
    expect(shares.of(planOf('fixed-window,8,1h'), 3)).not.toBe(share);
  });

  it('stays exact where the share of the limit is not, at the same rate', () => {
    const { rule, algorithm } = shareOf(`token-bucket,${10 ** 9},${10 ** 9}ms`, 3);
    expect(rule).toMatchObject({ limit: 10 ** 9, windowMillis: 3 * 10 ** 9, burst: 333_333_333 });
    expect(algorithm.fillMillis).toBe(999_999_999);
  });

  it('is the whole rule where windows are of millennia and neither way is exact', () => {
    const plan = planOf(`token-bucket,${2 ** 50},${2 ** 50}ms`);
    expect(new LocalShares().of(plan, 9).rule).toBe(plan.rule);
  });

  it('is exact, and together no more than the limit, whatever the rule', () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1e9 }));
    const rules = fc.record({
      algorithm: fc.constantFrom(...ALGORITHMS),
      limit: size,
      burst: size,
      windowMillis: size,
      instances: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10_000 })),
    });
    fc.assert(
      fc.property(rules, ({ algorithm, limit, burst, windowMillis, instances }) => {
        const more = algorithmKind(algorithm)!.takesBurst ? `,burst=${burst}` : '';
        const kind = algorithmKind(algorithm)!;
        fc.pre(kind.largestInteger({ limit, burst, windowMillis }) < EXACT_BOUND);
        const { rule } = shareOf(`${algorithm},${limit},${windowMillis}ms${more}`, instances);
        expect(isExact(rule)).toBe(true);
        expect(rule.limit).toBeGreaterThanOrEqual(1);
        if (limit < instances || burst < instances) return;
        expect((instances * rule.limit) / rule.windowMillis).toBeLessThanOrEqual(
          (limit / windowMillis) * (1 + 1e-12),
        );
        if (rule.burst !== undefined) expect(instances * rule.burst).toBeLessThanOrEqual(burst);
      }),
    );
  });
});
