import 'reflect-metadata';
import { deepStrictEqual, strictEqual } from 'node:assert';
import { ConsoleLogger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitModule, RateLimitService } from 'nestjs-doorman';
import { LimiterFactory, MemoryStore } from 'nestjs-doorman/core';
import { RedisStore } from 'nestjs-doorman/redis';
import { FakeClock } from 'nestjs-doorman/testing';
import { AppModule } from './app.module.js';

async function main() {
  const clock = new FakeClock();
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  const app = module.createNestApplication({ logger: ['error', 'warn'] });
  try {
    await app.listen(0, '127.0.0.1');
    await askOverHttp(await app.getUrl(), clock);
    const decision = await app.get(RateLimitService).check('alice', '/anything');
    strictEqual(decision.remaining, 4);
    strictEqual(app.get(LimiterFactory).create('fixed-window,1,1s').tryAcquire().allowed, true);
  } finally {
    await app.close();
  }
  await withoutClient();
  withoutNest();
  console.log('ok');
}

async function askOverHttp(url: string, clock: FakeClock) {
  const first = await fetch(`${url}/teas`);
  deepStrictEqual(await first.json(), ['assam', 'sencha']);
  strictEqual(first.headers.get('ratelimit-policy'), '"default";q=5;w=10');
  strictEqual(first.headers.get('ratelimit'), '"default";r=4;t=2');
  for (let i = 2; i <= 5; i++) strictEqual((await fetch(`${url}/teas`)).status, 200);

  const sixth = await fetch(`${url}/teas`);
  strictEqual(sixth.status, 429);
  strictEqual(sixth.headers.get('retry-after'), '2');
  strictEqual(sixth.headers.get('ratelimit-policy'), '"default";q=5;w=10');
  strictEqual(sixth.headers.get('ratelimit'), '"default";r=0;t=2');

  clock.advance(1999);
  strictEqual((await fetch(`${url}/teas`)).status, 429);
  clock.advance(1);
  strictEqual((await fetch(`${url}/teas`)).status, 200);

  const taste = async () => (await fetch(`${url}/teas/tastings`, { method: 'POST' })).status;
  deepStrictEqual([await taste(), await taste(), await taste()], [200, 200, 429]);
}

/** No client of Redis is installed here: nothing breaks, and the log says what to do. */
async function withoutClient() {
  const store = new RedisStore({ url: 'redis://127.0.0.1:6379' }, { prefix: 'teas' });
  const limits = RateLimitModule.forRoot({ store, rules: { default: 'fixed-window,1,10' } });
  const module = await Test.createTestingModule({ imports: [limits] }).compile();
  const logger = new ConsoleLogger();
  const warnings: unknown[] = [];
  logger.warn = (text: unknown) => void warnings.push(text);
  logger.log = () => undefined;
  module.useLogger(logger);
  await module.init();
  const { allowed, degraded } = await module.get(RateLimitService).check('alice', '/teas');
  deepStrictEqual({ allowed, degraded }, { allowed: true, degraded: true });
  deepStrictEqual(warnings, [
    'The redis store failed, and each rule does as its onStoreError says: ' +
      'The Redis store needs a client library: npm install ioredis',
  ]);
  await module.close();
}

/** The core by itself, on a clock that stands still. */
function withoutNest() {
  const clock = new FakeClock();
  const logins = new LimiterFactory(clock, new MemoryStore()).createKeyed('fixed-window,2,10');
  const allowed = () => logins.tryAcquire('alice').allowed;
  deepStrictEqual([allowed(), allowed(), allowed()], [true, true, false]);
  clock.advance(10_000);
  strictEqual(allowed(), true);
}

void main();
