import { planCounters } from '../../src/core/counter-plan.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { Policy } from '../../src/core/policy.js';
import { refusalBody } from '../../src/http/refusal-body.js';
import { MemoryStore } from '../../src/stores/memory/memory.store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

describe('the body of a refusal', () => {
  it('says which policy refused and when to come back', () => {
    const limiter = new LimiterFactory(new FakeClock()).create('token-bucket,5,10,name=orders');
    limiter.tryAcquire(5);
    expect(refusalBody(limiter.tryAcquire())).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Too many requests, try again in 2 s',
      policy: 'orders',
      retryAfterMillis: 2000,
    });
  });

  it.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_999, 60],
  ])('says %d ms in words as %d s, and exactly beside them', (retryAfterMillis, seconds) => {
    const limiter = new LimiterFactory(new FakeClock()).create('fixed-window,1,1d');
    limiter.tryAcquire();
    const body = refusalBody({ ...limiter.tryAcquire(), retryAfterMillis });
    expect(body.message).toBe(`Too many requests, try again in ${seconds} s`);
    expect(body.retryAfterMillis).toBe(retryAfterMillis);
  });

  it('says that no waiting helps, and has no time', () => {
    const limiter = new LimiterFactory(new FakeClock()).create('fixed-window,2,10,name=orders');
    const body = refusalBody(limiter.tryAcquire(3));
    expect(body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'This request costs more than its limit ever allows',
      policy: 'orders',
    });
    expect(Object.keys(body)).not.toContain('retryAfterMillis');
  });

  it('has no time that cannot be told, also for a counter that is blocked besides', () => {
    const policy = Policy.parse('fixed-window,2,10');
    const counters = planCounters({ policy, place: 'default', label: 'default' }).map((plan) => ({
      plan,
      values: ['alice'],
    }));
    const store = new MemoryStore();
    store.block(counters, 5000, 0);
    const [outcome] = store.decide([{ counters, cost: 3, mode: 'take' }], 0);
    const body = outcome && refusalBody(outcome.decision);
    expect(body?.message).not.toContain('Infinity');
    expect(body?.retryAfterMillis).toBeUndefined();
  });
});
