import 'reflect-metadata';
import { deepStrictEqual, strictEqual } from 'node:assert';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as doorman from 'nestjs-doorman';
import { Clock, LimiterFactory, RateLimitModule, RateLimitService } from 'nestjs-doorman';
import * as core from 'nestjs-doorman/core';
import * as redis from 'nestjs-doorman/redis';
import * as testing from 'nestjs-doorman/testing';
import { required, TeaController, TeaModule } from './tea.module.cjs';

/* An ES module: what is imported here and what is required there must be the same. */

const imported: Record<string, object> = { doorman, core, redis, testing };
for (const [name, exports] of Object.entries<object>(required)) {
  const here = new Map(Object.entries(imported[name] ?? {}));
  const there = new Map(Object.entries(exports));
  strictEqual(here.size > 0, true);
  deepStrictEqual([...there.keys()].sort(), [...here.keys()].sort());
  for (const [key, value] of here) strictEqual(there.get(key), value, `two copies of ${key}`);
}

@Module({
  imports: [RateLimitModule.forRoot({ rules: { default: 'fixed-window,9,1h' } }), TeaModule],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
try {
  await app.listen(0, '127.0.0.1');
  const controller = app.get(TeaController, { strict: false });
  // The annotations compile only if both sides mean the same declaration: see tsconfig.json.
  const factory: LimiterFactory = controller.factory;
  const limits: RateLimitService = controller.limits;
  strictEqual(factory, app.get(LimiterFactory));
  strictEqual(limits, app.get(RateLimitService));
  strictEqual(controller.clock, app.get(Clock));

  const url = await app.getUrl();
  const seen = [];
  for (let i = 0; i < 3; i++) {
    const { status, headers } = await fetch(`${url}/teas`);
    seen.push(`${status} ${headers.get('ratelimit')?.split(';t=')[0]}`);
  }
  // Two guards, or two sets of decorators, would count twice or by the rule book.
  deepStrictEqual(seen, ['200 "required";r=1', '200 "required";r=0', '429 "required";r=0']);
} finally {
  await app.close();
}
console.log('ok');
