import { Test } from '@nestjs/testing';
import { Clock, type Decision, RateLimitModule, RateLimitService } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import { rules } from './rules.js';

/** Walks through what the limiter does, on a clock that stands still: the same on every run. */
export async function walkthrough(print: (line: string) => void): Promise<void> {
  const clock = new FakeClock();
  const module = await Test.createTestingModule({ imports: [RateLimitModule.forRoot({ rules })] })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  module.useLogger(false);
  await module.init();
  const limits = module.get(RateLimitService);

  const ask = async (user: string, api: string, note = '') => {
    const decision = await limits.check(user, api);
    const who = `${user} ${api}${note && ` ${note}`}`;
    print(`t=${pad(clock.nowMillis(), 5)}ms  ${who.padEnd(24)} ${outcome(decision)}`);
  };
  const repeat = async (times: number, user: string, api: string) => {
    for (let i = 1; i <= times; i++) await ask(user, api, `#${i}`);
  };

  await repeat(6, 'alice', '/orders');
  clock.advance(2000);
  await ask('alice', '/orders', 'after 2s');
  await repeat(3, 'alice', '/login');
  await ask('bob', '/orders');
  await repeat(6, 'vip-1', '/orders');

  for (const algorithm of ['token-bucket', 'fixed-window', 'sliding-window'] as const) {
    clock.set(9000 + 100_000 * (1 + Math.floor(clock.nowMillis() / 100_000)));
    const burst = async () => {
      let allowed = 0;
      for (let i = 0; i < 3; i++) {
        const decision = await limits.check('carol', '/edge', { policy: `${algorithm},3,10` });
        if (decision.allowed) allowed++;
      }
      return allowed;
    };
    const before = await burst();
    clock.advance(1000);
    const name = algorithm.replace('-', '_').toUpperCase();
    print(`${name.padEnd(15)} allowed ${before} at 9.0s, ${await burst()} at 10.0s`);
  }

  const callers = Array.from({ length: 8 }, async () => {
    let allowed = 0;
    for (let i = 0; i < 50; i++) {
      const decision = await limits.check('dave', '/shared', { policy: 'fixed-window,100,10' });
      if (decision.allowed) allowed++;
    }
    return allowed;
  });
  const counts = await Promise.all(callers);
  const total = counts.reduce((sum, count) => sum + count, 0);
  print(`${8 * 50} calls made, allowed = ${total}`);
  await module.close();
}

function outcome({ allowed, remaining, retryAfterMillis }: Decision): string {
  return allowed ? `ALLOWED  remaining=${remaining}` : `REJECTED retryAfter=${retryAfterMillis}ms`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width);
}
