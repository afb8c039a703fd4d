import { readFileSync } from 'node:fs';
import { Controller, type DynamicModule, Get, type INestApplication, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitModule, type RateLimitOptions } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import request, { type Response } from 'supertest';
import { blocksOf, example, run } from './blocks.js';

const FILE = 'docs/headers.md';
const README = readFileSync('README.md', 'utf8');
const DIALECTS = ['ietf', 'draft-8', 'draft-7', 'draft-6', 'legacy'] as const;

@Controller()
class Shop {
  @Get()
  get() {
    return {};
  }
}

let app: INestApplication | undefined;
afterEach(() => app?.close());

/** The answers to so many requests at once. */
async function answersOf(limits: DynamicModule, times: number): Promise<Response[]> {
  @Module({ imports: [limits], controllers: [Shop] })
  class AppModule {}
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(Clock)
    .useValue(new FakeClock(1_700_000_000_000))
    .compile();
  module.useLogger(false);
  app = module.createNestApplication();
  await app.init();
  const answers: Response[] = [];
  for (let i = 0; i < times; i++) answers.push(await request(app.getHttpServer()).get('/'));
  return answers;
}

/** The module of the example that holds `part`. */
async function moduleOf(part: string): Promise<DynamicModule> {
  const source = `export const limits = ${example(FILE, part)}`;
  return (await run(source, [], { RateLimitModule }))['limits'] as DynamicModule;
}

const printed = blocksOf(FILE).filter(({ language }) => language === 'http');

describe('the headers that the docs print', () => {
  it.each(DIALECTS.map((headers, i) => [headers, printed[i]?.text ?? ''] as const))(
    'are those of %s',
    async (headers, text) => {
      const rules = { default: 'token-bucket,5,10,name=burst & fixed-window,100,1h,name=hourly' };
      const [, second] = await answersOf(
        RateLimitModule.forRoot({ rules, headers } as RateLimitOptions),
        2,
      );
      const lines = Object.entries(second!.headers).filter(([name]) => name.includes('ratelimit'));
      const told = lines.map(([name, value]) => `${name}: ${value}`);
      const wanted = text.trim().split('\n');
      const lower = wanted.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()));
      expect(told.sort()).toEqual(lower.sort());
    },
  );

  it('are several at once, exposed', async () => {
    const [answer] = await answersOf(await moduleOf('X-Policy'), 1);
    expect(answer?.headers).toMatchObject({
      ratelimit: 'limit=5, remaining=4, reset=2',
      'x-ratelimit-limit': '5',
      'x-policy': 'default',
      'access-control-expose-headers':
        'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Policy, Retry-After',
    });
  });
});

describe('the refusals that the docs print', () => {
  it('are problems', async () => {
    const refused = (await answersOf(await moduleOf("refusal: 'problem'"), 6))[5]!;
    const [head = '', body = ''] = printed.at(-1)?.text.split('\n\n') ?? [];
    const [status = '', type = ''] = head.split('\n');
    expect(refused.status).toBe(Number(status.split(' ')[1]));
    expect(`Content-Type: ${refused.headers['content-type']?.split(';')[0]}`).toBe(type);
    expect(JSON.parse(refused.text)).toEqual(JSON.parse(body));
  });

  it('have the body of a function', async () => {
    const refused = (await answersOf(await moduleOf('SLOW_DOWN'), 6))[5]!;
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ code: 'SLOW_DOWN', policy: 'default', retryAfterMillis: 2000 });
  });
});

describe('the table of dialects in the README', () => {
  it('names each of them', async () => {
    for (const headers of DIALECTS) {
      const limits = RateLimitModule.forRoot({ rules: { default: 'token-bucket,5,10' }, headers });
      const [answer] = await answersOf(limits, 1);
      expect(README).toContain(`| \`'${headers}'\` `);
      await app?.close();
      if (headers === 'draft-7') {
        expect(README).toContain(`\`RateLimit: ${answer?.headers['ratelimit']}\``);
      }
    }
  });
});
