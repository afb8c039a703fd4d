import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Controller,
  type DynamicModule,
  Get,
  type INestApplication,
  Module,
  Post,
  type Type,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitModule, RateLimitService, SkipRateLimit } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';
import { blocksOf, example, run } from './blocks.js';

@Controller()
class Shop {
  @Get('login')
  login() {
    return {};
  }

  @Get('partners')
  partners() {
    return {};
  }

  @Post('orders')
  order() {
    return {};
  }

  @Get('search')
  search() {
    return {};
  }
}

/** The module of an example, as its text says. */
async function moduleOf(text: string, given: Record<string, unknown> = {}): Promise<DynamicModule> {
  const at = text.indexOf('RateLimitModule.forRoot');
  const source = `${text.slice(0, at)}\nexport const limits = ${text.slice(at)}`;
  return (await run(source, [], { RateLimitModule, ...given }))['limits'] as DynamicModule;
}

async function open(limits: DynamicModule, controllers: Type[] = [Shop]) {
  const clock = new FakeClock(1_700_000_000_000);
  @Module({ imports: [limits], controllers })
  class AppModule {}
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  module.useLogger(false);
  const app = module.createNestApplication();
  // Signed in before any guard.
  app.use((req: Record<string, unknown>, _res: unknown, next: () => void) => {
    const { 'x-user': id, 'x-tenant': tenant } = req['headers'] as Record<string, string>;
    if (id) req['user'] = { id, tenant };
    next();
  });
  await app.init();
  return { app, clock, service: app.get(RateLimitService) };
}

/** How many of `times` requests are let in. */
async function admitted(
  app: INestApplication,
  times: number,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  let count = 0;
  for (let i = 0; i < times; i++) {
    const { status } = await request(app.getHttpServer()).get(path).set(headers);
    if (status === 200) count++;
  }
  return count;
}

describe('the recipes of the README', () => {
  it('limit an address and an API key at once', async () => {
    const limits = await moduleOf(example('README.md', 'by=ip & token-bucket,100,60,by=api-key'));
    const { app, clock } = await open(limits);
    let ofKey = 0;
    for (let second = 0; second < 12; second++) {
      const inThisSecond = await admitted(app, 12, '/search', { 'x-api-key': 'k1' });
      expect(inThisSecond).toBeLessThanOrEqual(10);
      ofKey += inThisSecond;
      clock.advance(1000);
    }
    expect(ofKey).toBeGreaterThanOrEqual(100);
    expect(ofKey).toBeLessThan(120);
    expect(await admitted(app, 12, '/search', { 'x-api-key': 'k2' })).toBe(10);
    await app.close();
  });

  it('give plans their limits, and all users a day', async () => {
    const limits = await moduleOf(example('README.md', "pro: { default: 'token-bucket,50,10'"));
    const { app, service } = await open(limits);
    expect(await admitted(app, 7, '/search', { 'x-user': 'alice' })).toBe(5);
    expect(await admitted(app, 55, '/search', { 'x-user': 'pro-1' })).toBe(50);
    expect(await admitted(app, 3, '/login', { 'x-user': 'pro-1' })).toBe(2);
    const { rules } = await service.explain('pro-1', '/search');
    expect(rules.find(({ policy }) => policy === 'daily')).toMatchObject({ remaining: 948 });
    await app.close();
  });

  it('take the limit of a tenant from a table', async () => {
    const limits = await moduleOf(example('README.md', 'requestsPerMinute = new Map'));
    const { app } = await open(limits);
    expect(await admitted(app, 60, '/search', { 'x-user': 'ann', 'x-tenant': 'acme' })).toBe(60);
    expect(await admitted(app, 60, '/search', { 'x-user': 'bob', 'x-tenant': 'acme' })).toBe(40);
    expect(await admitted(app, 70, '/search', { 'x-user': 'eve', 'x-tenant': 'small' })).toBe(60);
    await app.close();
  });

  it('try a rule, and put it in force by a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
    const path = join(folder, 'limits.properties');
    const text = example('README.md', 'mode=shadow').replace('limits.properties', path);
    // In the file of the recipe the policy is given anew; here the api names it as well.
    writeFileSync(path, 'api./search = token-bucket,2,10,mode=shadow');
    const { app, clock, service } = await open(await moduleOf(text));
    const seen: string[] = [];
    service.events$.subscribe(({ type }) => seen.push(type));
    const alice = { 'x-user': 'alice' };
    expect(await admitted(app, 3, '/search', alice)).toBe(3);
    expect(seen).toEqual(['would-refuse']);
    writeFileSync(path, 'api./search = token-bucket,3,10');
    const tick = setInterval(() => clock.advance(1000), 5);
    while (!seen.includes('reloaded')) await new Promise((resolve) => setImmediate(resolve));
    clearInterval(tick);
    expect(await admitted(app, 9, '/search', { 'x-user': 'bob' })).toBe(3);
    await app.close();
    rmSync(folder, { recursive: true });
  });
});

describe('docs/who-asks.md', () => {
  it('has dimensions that limit as it says', async () => {
    const { app } = await open(await moduleOf(example('docs/who-asks.md', 'secretKey')));
    expect(await admitted(app, 12, '/partners', { 'x-api-key': 'k1' })).toBe(10);
    await app.close();
  });

  it('has tiers that limit as it says', async () => {
    const { app } = await open(await moduleOf(example('docs/who-asks.md', 'enterprise')));
    expect(await admitted(app, 52, '/search', { 'x-user': 'pro-1' })).toBe(50);
    expect(await admitted(app, 7, '/search', { 'x-user': 'alice' })).toBe(5);
    await app.close();
  });

  it('has a resolver that takes limits from a table', async () => {
    const source = example('docs/who-asks.md', 'class Plans');
    class Tenants {
      requestsPerMinute = async (id: string) => (id === 'ann' ? 100 : undefined);
    }
    const imports = `import { Injectable } from '@nestjs/common';
      import { TierResolver } from 'nestjs-doorman';`;
    const { Plans } = await run(`${imports}\n${source}`, ['Plans'], { Tenants });
    const plans = new (Plans as new (of: Tenants) => { tierOf(id: string): Promise<unknown> })(
      new Tenants(),
    );
    expect(await plans.tierOf('ann')).toBe('token-bucket,100,1m,by=tenant');
    expect(await plans.tierOf('bob')).toBeUndefined();
  });
});

describe('docs/running.md', () => {
  it('prints what explain answers', async () => {
    const source = `import { Controller, Get, Query } from '@nestjs/common';
      import { RateLimitService, SkipRateLimit } from 'nestjs-doorman';
      ${example('docs/running.md', 'class LimitsController')}`;
    const { LimitsController } = await run(source, ['LimitsController']);
    const limits = RateLimitModule.forRoot({ rules: { default: 'token-bucket,5,10' } });
    const { app } = await open(limits, [Shop, LimitsController as Type]);
    const http = request(app.getHttpServer());
    for (let i = 0; i < 6; i++) await http.post('/orders').set('x-user', 'alice');
    const why = await http.get('/limits/why').query({ user: 'alice', api: 'POST /orders' });
    const printed = blocksOf('docs/running.md').find(({ language }) => language === 'json');
    expect(why.body).toEqual(JSON.parse(printed?.text ?? ''));
    await app.close();
  });

  it('counts what would be refused', async () => {
    const source = `import { Injectable } from '@nestjs/common';
      import { RateLimitService } from 'nestjs-doorman';
      ${example('docs/running.md', 'class Trial')}`;
    const { Trial } = await run(source, ['Trial']);
    const limits = RateLimitModule.forRoot({
      rules: { default: 'token-bucket,2,10,mode=shadow' },
    });
    const { app, service } = await open(limits);
    type Counting = { onModuleInit(): void; refused: Map<string, number> };
    const trial = new (Trial as new (service: RateLimitService) => Counting)(service);
    trial.onModuleInit();
    expect(await admitted(app, 5, '/search', { 'x-user': 'alice' })).toBe(5);
    expect([...trial.refused]).toEqual([['default', 3]]);
    await app.close();
  });

  it('watches a file, which it names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
    const path = join(folder, 'limits.properties');
    const text = blocksOf('docs/running.md').find(({ language }) => language === 'properties');
    writeFileSync(path, text?.text ?? '');
    const source = example('docs/running.md', 'pollMillis').replace('limits.properties', path);
    const { app, service } = await open(await moduleOf(source, { SkipRateLimit }));
    expect(service.book.policy('search')?.policy.toString()).toBe('token-bucket,30,1m,mode=shadow');
    await app.close();
    rmSync(folder, { recursive: true });
  });
});
