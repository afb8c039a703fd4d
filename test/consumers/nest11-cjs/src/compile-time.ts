import { RateLimit, RateLimitModule } from 'nestjs-doorman';
import { LimiterFactory } from 'nestjs-doorman/core';

/** Compiled, never called: faulty rules do not compile. */
export function faultyRules() {
  // @ts-expect-error limit must be a positive whole number
  RateLimit('token-bucket,0,10');
  // @ts-expect-error unknown algorithm
  RateLimitModule.forRoot({ rules: { default: 'fixd-window,2,10' } });
  // @ts-expect-error unknown option "brust"
  new LimiterFactory().create('token-bucket,5,10,brust=3');
}
