import type { Decision } from '../../src/core/decision.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { HEADER_DIALECTS } from '../../src/http/headers/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const { legacy } = HEADER_DIALECTS;

const decision: Decision = {
  allowed: true,
  reason: undefined,
  policy: 'default',
  limit: 5,
  windowMillis: 10_000,
  remaining: 4,
  retryAfterMillis: 0,
  resetAfterMillis: 9000,
  moreAfterMillis: 2000,
  rules: undefined,
};

describe('the headers of old', () => {
  it('tell the limit, what is left, and the seconds until all is reset', () => {
    expect(legacy(decision)).toEqual({
      'X-RateLimit-Limit': '5',
      'X-RateLimit-Remaining': '4',
      'X-RateLimit-Reset': '9',
    });
  });

  it.each([
    [0, '0'],
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [86_400_000, '86400'],
  ])('round %d ms up to %s s', (resetAfterMillis, seconds) => {
    expect(legacy({ ...decision, resetAfterMillis })['X-RateLimit-Reset']).toBe(seconds);
  });

  it('tell of several rules the one that decides', () => {
    const limiter = new LimiterFactory(new FakeClock(5000)).create(
      'fixed-window,100,1m & token-bucket,2,10',
    );
    limiter.tryAcquire(2);
    expect(legacy(limiter.tryAcquire())).toEqual({
      'X-RateLimit-Limit': '2',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '55',
    });
  });
});
