import { planCounters } from '../../../src/core/counter-plan.js';
import { Policy } from '../../../src/core/policy.js';
import { createDegradedLimiter } from '../../../src/stores/redis/degraded.js';

const T0 = 1_700_000_040_000;
const policy = Policy.of('fixed-window,2,1m,onStoreError=local');
const [plan] = planCounters({ policy, place: 'default', label: 'default' });

const entryOf = (user: string) => ({
  counters: [{ plan: plan!, values: [user, '/'] }],
  cost: 1,
  mode: 'take' as const,
});

/** How many counters still know that they were used, of so many that were. */
function remembered(users: number, options?: { maxKeys: number }): number {
  const limiter = createDegradedLimiter(() => 1, options);
  for (let i = 0; i < users; i++) limiter.decide(entryOf(`user-${i}`), T0, 1);
  let count = 0;
  for (let i = 0; i < users; i++) {
    const peeked = limiter.decide({ ...entryOf(`user-${i}`), mode: 'peek' }, T0, 1);
    if (peeked.remaining === 1) count++;
  }
  return count;
}

describe('what decides while Redis is away', () => {
  it('counts in this process, a share of each limit', () => {
    const limiter = createDegradedLimiter(() => 2);
    const ask = () => limiter.decide(entryOf('alice'), T0, 1);
    expect([ask().allowed, ask().allowed]).toEqual([true, false]);
  });

  it('keeps as many counters as it is told, whatever comes in', () => {
    const kept = remembered(5000, { maxKeys: 800 });
    expect(kept).toBeGreaterThan(700);
    expect(kept).toBeLessThanOrEqual(800);
  });

  it('keeps 100,000 unless told', () => {
    const kept = remembered(150_000);
    expect(kept).toBeGreaterThan(90_000);
    expect(kept).toBeLessThanOrEqual(100_000);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses to keep %d', (maxKeys) => {
    expect(() => createDegradedLimiter(() => 1, { maxKeys })).toThrow(RangeError);
  });
});
