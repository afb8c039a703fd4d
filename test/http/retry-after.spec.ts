import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { retryAfter } from '../../src/http/retry-after.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const refusal = new LimiterFactory(new FakeClock()).create('fixed-window,1,10').tryAcquire(2);

describe('Retry-After', () => {
  it.each([
    [0, '1'],
    [1, '1'],
    [999, '1'],
    [1000, '1'],
    [1001, '2'],
    [1999, '2'],
    [2000, '2'],
    [86_400_000, '86400'],
    [365 * 86_400_000, '31536000'],
  ])('for %d ms is %s: whole seconds, rounded up, at least 1', (retryAfterMillis, seconds) => {
    expect(retryAfter({ ...refusal, retryAfterMillis })).toBe(seconds);
  });

  it('is left out where no waiting helps', () => {
    expect(refusal.reason).toBe('never');
    expect(retryAfter(refusal)).toBeUndefined();
  });

  it('is enough for every rule that refused', () => {
    const clock = new FakeClock(5000);
    const limiter = new LimiterFactory(clock).create('token-bucket,2,5 & fixed-window,2,10');
    limiter.tryAcquire(2);
    const seconds = Number(retryAfter(limiter.tryAcquire()));
    expect(seconds).toBe(5);
    clock.advance(seconds * 1000);
    expect(limiter.tryAcquire().allowed).toBe(true);
  });
});
