import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { unavailableBody } from '../../src/http/unavailable-body.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

const limiter = new LimiterFactory(new FakeClock()).create('token-bucket,5,10,name=orders');
const refused = { ...limiter.peek(), allowed: false, reason: 'store' } as const;

describe('the body where the store cannot be asked', () => {
  it('says which policy refused and when to ask again', () => {
    expect(unavailableBody({ ...refused, retryAfterMillis: 1700 })).toEqual({
      statusCode: 503,
      error: 'Service Unavailable',
      message: 'The limit cannot be checked, try again in 2 s',
      policy: 'orders',
      retryAfterMillis: 1700,
    });
  });

  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
  ])('says %d ms in words as %d s', (retryAfterMillis, seconds) => {
    const { message } = unavailableBody({ ...refused, retryAfterMillis });
    expect(message).toBe(`The limit cannot be checked, try again in ${seconds} s`);
  });
});
