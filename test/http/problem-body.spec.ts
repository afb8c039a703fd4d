import { blockedDecision, type Decision } from '../../src/core/decision.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { problemBody } from '../../src/http/problem-body.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { decision } from './decisions.js';

const QUOTA = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Quota Exceeded',
  status: 429,
};

const refused: Decision = {
  ...decision({ allowed: false, remaining: 0, retryAfterMillis: 1919 }),
  reason: 'quota',
};

describe('a refusal as a problem', () => {
  it('names the policy, and tells a person and a program when to come back', () => {
    expect(problemBody(refused)).toEqual({
      ...QUOTA,
      detail: 'Too many requests, try again in 2 s',
      'violated-policies': ['default'],
      retryAfterMillis: 1919,
    });
  });

  it('names of several rules all that refuse, and no other', () => {
    const limiter = new LimiterFactory(new FakeClock(5000)).create(
      'fixed-window,1,10,name=short & fixed-window,9,10,name=wide & fixed-window,1,1m,name=long',
    );
    limiter.tryAcquire();
    expect(problemBody(limiter.tryAcquire())).toEqual({
      ...QUOTA,
      detail: 'Too many requests, try again in 55 s',
      'violated-policies': ['short', 'long'],
      retryAfterMillis: 55_000,
    });
  });

  it('names no time where none helps', () => {
    const never = new LimiterFactory(new FakeClock()).create('token-bucket,5,10').tryAcquire(6);
    const body = problemBody(never);
    expect(body).toEqual({
      ...QUOTA,
      detail: 'This request costs more than its limit ever allows',
      'violated-policies': ['limiter'],
    });
    expect(JSON.stringify(body)).not.toMatch(/null|Infinity/);
  });

  it('names the policy of a counter that is blocked with something left', () => {
    const limiter = new LimiterFactory(new FakeClock()).create(
      'token-bucket,5,10,name=a & token-bucket,9,10,name=b',
    );
    expect(problemBody(blockedDecision(limiter.tryAcquire(), 60_000))).toMatchObject({
      ...QUOTA,
      'violated-policies': ['a'],
      retryAfterMillis: 60_000,
    });
  });

  it('is no more than its status where the store cannot be asked: no quota is violated', () => {
    expect(problemBody({ ...refused, reason: 'store', degraded: true })).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: 'The limit cannot be checked, try again in 2 s',
      retryAfterMillis: 1919,
    });
  });
});
