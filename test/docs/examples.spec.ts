import { type INestApplication, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  Clock,
  LimiterFactory,
  MemoryStore,
  Policy,
  type PolicySource,
  RateLimitConfigError,
  RateLimitModule,
  RateLimitService,
  RateLimitStore,
  RuleBook,
  type RuleBookSource,
} from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';
import { blocksOf, diagnosticsOf, example, run } from './blocks.js';

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/rules.md',
  'docs/algorithms.md',
  'docs/afterwards.md',
  'docs/redis.md',
  'docs/who-asks.md',
  'docs/headers.md',
  'docs/running.md',
  'docs/transports.md',
];

/** What the examples take for granted. */
const PROLOGUE = `
import {
  Controller, Get, Injectable, type DynamicModule, type OnModuleInit, Query,
} from '@nestjs/common';
import {
  MemoryStore, RateLimitModule, RateLimitService, type RuleBookSource, SkipRateLimit, TierResolver,
} from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
declare class ConfigModule {}
declare class ConfigService { getOrThrow<T>(name: string): T }
declare class AppModule {}
declare class Tenants { requestsPerMinute(userId: string): Promise<number | undefined> }
`;
const IMPORTED = /^import .* from '(nestjs-doorman(\/(core|redis|testing))?|@nestjs\/common)';$/m;

describe('every TypeScript example', () => {
  const examples = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language === 'ts');

  it.each(examples)(
    'of $file compiles: $text',
    ({ text }) => {
      const ownImports = IMPORTED.test(text);
      const prologue = ownImports ? PROLOGUE.replaceAll(/^import [\s\S]*?;$/gm, '') : PROLOGUE;
      const declared = text.includes('class AppModule')
        ? prologue.replace('declare class AppModule {}', '')
        : prologue;
      expect(diagnosticsOf(text, declared)).toEqual([]);
    },
    30_000,
  );

  it('is one of many', () => {
    expect(examples.length).toBeGreaterThanOrEqual(7);
  });
});

async function open(root: Type): Promise<{ app: INestApplication; clock: FakeClock }> {
  const clock = new FakeClock(1_700_000_000_000);
  const module = await Test.createTestingModule({ imports: [root] })
    .overrideProvider(Clock)
    .useValue(clock)
    .compile();
  module.useLogger(false);
  const app = module.createNestApplication();
  await app.init();
  return { app, clock };
}

describe('the start of the README', () => {
  it('limits orders by the book and the login by its decorator, and answers as printed', async () => {
    const { AppModule } = await run(example('README.md', 'class ShopController'));
    const { app, clock } = await open(AppModule as Type);
    const http = request(app.getHttpServer());
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await http.post('/orders')).status);
    for (let i = 0; i < 3; i++) statuses.push((await http.post('/login')).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 201, 201, 429]);
    clock.advance(81);
    const refused = await http.post('/orders');
    const [head = '', body = ''] =
      blocksOf('README.md')
        .find(({ language }) => language === 'http')
        ?.text.split('\n\n') ?? [];
    expect(refused.body).toEqual(JSON.parse(body));
    const [, ...headers] = head.split('\n').map((line) => line.split(': '));
    for (const [name = '', value = ''] of headers) {
      const told = refused.headers[name.toLowerCase()];
      // The start joins a rule by address to all others; the excerpt shows the one that refused.
      expect(name.startsWith('RateLimit') ? told?.split(', ')[0] : told).toBe(value);
    }
    await app.close();
  });
});

describe('the recipes of the README', () => {
  it('take options from configuration', async () => {
    class ConfigModule {}
    class ConfigService {
      getOrThrow = () => 'default = fixed-window,1,10';
    }
    const source = `export const limits = ${example('README.md', 'forRootAsync')}`;
    const { limits } = await run(source, [], { RateLimitModule, ConfigModule, ConfigService });
    const { global, providers } = limits as {
      global: boolean;
      providers: { inject?: unknown[] }[];
    };
    expect(global).toBe(true);
    expect(providers.some(({ inject }) => inject?.includes(ConfigService))).toBe(true);
  });

  it('bound the memory', async () => {
    const source = `export const limits = ${example('README.md', 'maxKeys: 100_000')}`;
    const { limits } = await run(source, [], { RateLimitModule, MemoryStore });
    const module = await Test.createTestingModule({ imports: [limits as Type] }).compile();
    module.useLogger(false);
    await module.init();
    module.get(RateLimitService).checkSync('alice', '/orders');
    expect((module.get(RateLimitStore) as MemoryStore).bytes).toBe(100_000 * 24);
    await module.close();
  });

  it('skip probes', async () => {
    const source = `export const limits = ${example('README.md', 'x-probe')}`;
    process.env['PROBE_KEY'] = 'sesame';
    const { limits } = await run(source, [], { RateLimitModule });
    const module = await Test.createTestingModule({ imports: [limits as Type] }).compile();
    module.useLogger(false);
    await module.init();
    await module.close();
  });

  it('decide by hand', async () => {
    const source = `import { Injectable } from '@nestjs/common';
      import { RateLimitService } from 'nestjs-doorman';\n${example('README.md', 'class Mailer')}`;
    const { Mailer } = await run(source);
    const module = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot()],
      providers: [Mailer as Type],
    })
      .overrideProvider(Clock)
      .useValue(new FakeClock())
      .compile();
    module.useLogger(false);
    await module.init();
    const mailer = module.get<{ send(id: string): Promise<string> }>(Mailer as Type);
    const answers: string[] = [];
    for (let i = 0; i < 11; i++) answers.push(await mailer.send('alice'));
    expect(answers).toEqual([...Array(10).fill('sent'), 'not now, in 360000 ms']);
    await module.close();
  });

  it('let jobs wait for their turn, and refuse at once what would wait too long', async () => {
    const source = `import { Injectable } from '@nestjs/common';
      import { RateLimitService } from 'nestjs-doorman';\n${example('README.md', 'class PartnerQueue')}`;
    const { PartnerQueue } = await run(source);
    const clock = new FakeClock();
    const module = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot()],
      providers: [PartnerQueue as Type],
    })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    module.useLogger(false);
    await module.init();
    const queue = module.get<{ run(job: () => Promise<number>): Promise<number> }>(
      PartnerQueue as Type,
    );
    const done: number[] = [];
    const refusals: string[] = [];
    for (let i = 0; i < 612; i++) {
      const refused = (error: Error) => refusals.push(error.message);
      void queue.run(async () => done.push(i)).catch(refused);
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(done).toHaveLength(10);
    expect(refusals).toEqual(Array(2).fill('too many jobs, again in 100 ms'));
    for (let tenths = 1; tenths <= 600; tenths++) {
      clock.advance(100);
      await turn();
      expect(done).toHaveLength(10 + tenths);
    }
    expect(done).toEqual([...done].sort((a, b) => a - b));
    await module.close();
  });

  /** An application with the controller of an example. */
  const serve = async (name: string, options: object) => {
    const source = example('README.md', `class ${name}`);
    const controller = (await run(source, [name]))[name] as Type;
    @Module({ imports: [RateLimitModule.forRoot(options)], controllers: [controller] })
    class RecipeModule {}
    return open(RecipeModule);
  };

  it('count failed logins only', async () => {
    const { app, clock } = await serve('LoginController', {});
    const login = async (password: string) =>
      (await request(app.getHttpServer()).post('/login').send({ password })).status;
    for (let i = 0; i < 10; i++) expect(await login('sesame')).toBe(200);
    for (let i = 0; i < 5; i++) expect(await login('guess')).toBe(401);
    expect(await login('sesame')).toBe(429);
    clock.advance(15 * 60_000);
    expect(await login('sesame')).toBe(200);
    await app.close();
  });

  it('settle the tokens of a language model', async () => {
    const user = (req: { headers: Record<string, string> }) => req.headers['x-user'];
    const { app } = await serve('ChatController', { user });
    const ask = (prompt: string) =>
      request(app.getHttpServer()).post('/chat').set('x-user', 'alice').send({ prompt });
    const left = async () =>
      (await app.get(RateLimitService).peek('alice', '/chat', { cost: 0 })).remaining;
    expect((await ask('hello')).headers['ratelimit']).toMatch(/r=98995/);
    expect(await left()).toBe(99_990);
    await ask('x'.repeat(40_000));
    expect(await left()).toBe(19_990);
    expect((await ask('x'.repeat(19_000))).status).toBe(429);
    expect(await left()).toBe(19_990);
    await app.close();
  });

  it('reserve by hand', async () => {
    const source = `import { Injectable } from '@nestjs/common';
      import { RateLimitService } from 'nestjs-doorman';
      ${example('docs/afterwards.md', 'class Exports')}`;
    const { Exports } = await run(source);
    const module = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot()],
      providers: [Exports as Type],
    })
      .overrideProvider(Clock)
      .useValue(new FakeClock())
      .compile();
    module.useLogger(false);
    await module.init();
    type Work = () => Promise<number>;
    const exporter = module.get<{ run(id: string, estimate: number, work: Work): unknown }>(
      Exports as Type,
    );
    const left = async () => {
      const policy = 'fixed-window,1000,1h';
      return (await module.get(RateLimitService).peek('alice', 'export', { policy })).remaining;
    };
    expect(await exporter.run('alice', 400, async () => 100)).toBe('done');
    expect(await left()).toBe(900);
    const failing = exporter.run('alice', 400, () => Promise.reject(new Error('no paper')));
    await expect(failing).rejects.toThrow('no paper');
    expect(await left()).toBe(900);
    expect(await exporter.run('alice', 901, async () => 1)).toMatch(/not now/);
    await module.close();
  });

  it('work without Nest', async () => {
    const { perHost } = await run(example('README.md', 'perHost'), ['perHost']);
    expect((perHost as { peek(key: string): unknown }).peek('example.org')).toMatchObject({
      remaining: 8,
    });
  });

  it('count in Redis', async () => {
    const source = `export const limits = ${example('README.md', 'new RedisStore')}`;
    const { limits } = await run(source, [], { RateLimitModule, RedisStore });
    const module = await Test.createTestingModule({ imports: [limits as Type] }).compile();
    module.useLogger(false);
    await module.init();
    expect(module.get(RateLimitStore).name).toBe('redis');
    await module.close();
  });

  it('hold a store of yours to the contract', async () => {
    const cases: [name: string, run: () => Promise<void>][] = [];
    const it = (...one: (typeof cases)[number]) => cases.push(one);
    await run(example('README.md', 'storeContract'), [], { it });
    expect(cases.length).toBeGreaterThan(50);
    await cases[0]![1]();
  });

  it('move the time of a module under test', async () => {
    const { AppModule } = await run(example('README.md', 'class ShopController'));
    const source = example('README.md', 'clock.advance(2000)');
    const { module } = await run(source, ['module'], { AppModule });
    const { app } = { app: module as { get(token: unknown): RateLimitService } };
    expect(app.get(RateLimitService)).toBeInstanceOf(RateLimitService);
  });

  it('have a rule book in a file that reads', () => {
    const text = blocksOf('README.md').find(({ language }) => language === 'properties')?.text;
    const book = RuleBook.parse(text ?? '');
    expect(book.rulesFor('vip-1', '/login').map(String)).toEqual([
      'fixed-window,2,10s',
      'token-bucket,300,1m,by=ip',
    ]);
    expect(String(book.ruleFor('alice', 'POST /orders'))).toBe('token-bucket,20,1m');
  });

  it('have rules that parse', () => {
    const lines = blocksOf('README.md').find(({ text }) => text.startsWith('token-bucket,5,10 '));
    const rules = lines?.text.trim().split('\n') ?? [];
    expect(rules).toHaveLength(4);
    for (const line of rules) Policy.parse(line.split(/\s{3,}/)[0] as string);
  });

  it('have an error that reads as it is printed', () => {
    const printed = blocksOf('README.md').find(({ text }) => text.includes('2 faults'))?.text ?? '';
    const [first = '', second = ''] = printed.split('\n').filter((line) => line.startsWith('- '));
    const told = (source: RuleBookSource) => {
      try {
        return String(RuleBook.of(source));
      } catch (error) {
        return (error as RateLimitConfigError).message;
      }
    };
    expect(`- ${told({ api: { '/login': 'fixd-window,2,10' as PolicySource } })}`).toBe(first);
    const search = { policy: { search: 'fixed-window,1,1' }, api: { '/s': 'serach' } };
    const place = /for .*?: /;
    expect(`- ${told(search)}`.replace(place, '')).toBe(second.replace(place, ''));
  });
});

describe('the tables of docs/algorithms.md', () => {
  it('tell what a hundred requests at the edge of a window do', async () => {
    for (const [algorithm, before, after] of [
      ['fixed-window', 100, 100],
      ['token-bucket', 100, 3],
      ['sliding-window-counter', 100, 1],
      ['sliding-window', 100, 0],
    ] as const) {
      const clock = new FakeClock(59_000);
      const limiter = new LimiterFactory(clock, new MemoryStore()).create(`${algorithm},100,1m`);
      const burst = () =>
        Array.from({ length: 100 }, () => limiter.tryAcquire()).filter(({ allowed }) => allowed)
          .length;
      const first = burst();
      clock.set(61_000);
      expect([algorithm, first, burst()]).toEqual([algorithm, before, after]);
      expect(documentRow('docs/algorithms.md', `\`${algorithm}\``)).toEqual([
        `\`${algorithm}\``,
        String(before),
        String(after),
      ]);
    }
  });

  it('tell what a decision says', () => {
    const limiter = new LimiterFactory(new FakeClock()).create('token-bucket,5,10');
    limiter.tryAcquire(2);
    const { rules, ...decision } = limiter.tryAcquire();
    expect(decision).toMatchObject({
      remaining: 2,
      retryAfterMillis: 0,
      moreAfterMillis: 2000,
      resetAfterMillis: 6000,
      limit: 5,
      windowMillis: 10_000,
    });
    expect(rules).toBeUndefined();
  });
});

function documentRow(file: string, first: string): string[] | undefined {
  const { readFileSync } = require('node:fs');
  const rows: string[][] = readFileSync(file, 'utf8')
    .split('\n')
    .map((line: string) => line.split('|').map((cell) => cell.trim()))
    .map((cells: string[]) => cells.slice(1, -1));
  return rows.find((cells) => cells[0] === first && cells.length === 3);
}
