import { Controller, Get, Header } from '@nestjs/common';
import {
  type Decision,
  MemoryStore,
  type Outcome,
  RateLimit,
  RateLimitExceededException,
  SkipRateLimit,
  type StoreEntry,
} from 'nestjs-doorman';
import { parseDictionary, parseItem, parseList } from 'structured-headers';
import type { Response } from 'supertest';
import { ADAPTERS, byHeader, SlowStore, start, valuesOf } from './support.js';

const ALICE = { 'x-user': 'alice' };
const RULES = { default: 'token-bucket,5,10' };

const ALL = [
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Cache-Control',
  'X-Left',
];

/** Every header of the limiter, with all its values. */
function told(response: Response): Record<string, string[]> {
  const values = ALL.map((name) => [name, valuesOf(response, name)] as const);
  return Object.fromEntries(values.filter(([, list]) => list.length > 0));
}

@Controller('plain')
class Plain {
  @Get()
  get() {
    return {};
  }

  @RateLimit('token-bucket,3,1', 'fixed-window,100,1h,name=hourly')
  @Get('joined')
  joined() {
    return {};
  }

  @SkipRateLimit()
  @Get('free')
  free() {
    return {};
  }

  @RateLimit('fixed-window,1,10')
  @Header('Cache-Control', 'public, max-age=60')
  @Header('Retry-After', '99')
  @Get('cached')
  cached() {
    return {};
  }
}

describe.each(ADAPTERS)('headers on %s', (adapter) => {
  const open = (headers: unknown, rules: unknown = RULES, more: object = {}) =>
    start(adapter, {
      limits: byHeader(rules, { ...(headers === undefined ? {} : { headers }), ...more } as object),
      controllers: [Plain],
    });
  const ask = async (
    { http }: Awaited<ReturnType<typeof open>>,
    times: number,
    path = '/plain',
  ) => {
    for (let i = 1; i < times; i++) await http.get(path).set(ALICE);
    return http.get(path).set(ALICE);
  };

  it.each([undefined, 'ietf', ['ietf']])('speaks the draft of the IETF for %j', async (headers) => {
    const app = await open(headers);
    const first = await ask(app, 1);
    expect(first.status).toBe(200);
    expect(told(first)).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=4;t=2'],
    });
    const refused = await ask(app, 5);
    expect(refused.status).toBe(429);
    expect(told(refused)).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=0;t=2'],
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it('speaks as clients are used to for "legacy"', async () => {
    const app = await open('legacy');
    expect(told(await ask(app, 1))).toEqual({
      'X-RateLimit-Limit': ['5'],
      'X-RateLimit-Remaining': ['4'],
      'X-RateLimit-Reset': ['2'],
    });
    expect(told(await ask(app, 5))).toEqual({
      'X-RateLimit-Limit': ['5'],
      'X-RateLimit-Remaining': ['0'],
      'X-RateLimit-Reset': ['10'],
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it('speaks both where both are named', async () => {
    expect(told(await ask(await open(['ietf', 'legacy']), 2))).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=3;t=2'],
      'X-RateLimit-Limit': ['5'],
      'X-RateLimit-Remaining': ['3'],
      'X-RateLimit-Reset': ['4'],
    });
  });

  it.each([
    ['draft-8', { RateLimit: ['"default";r=4;t=2'] }, { RateLimit: ['"default";r=0;t=10'] }],
    [
      'draft-7',
      { RateLimit: ['limit=5, remaining=4, reset=2'] },
      { RateLimit: ['limit=5, remaining=0, reset=10'] },
    ],
    [
      'draft-6',
      { 'RateLimit-Limit': ['5'], 'RateLimit-Remaining': ['4'], 'RateLimit-Reset': ['2'] },
      { 'RateLimit-Limit': ['5'], 'RateLimit-Remaining': ['0'], 'RateLimit-Reset': ['10'] },
    ],
  ])('speaks %s, on allowed answers and refusals', async (dialect, allowed, refused) => {
    const app = await open(dialect);
    const policy = [dialect === 'draft-8' ? '"default";q=5;w=10' : '5;w=10'];
    expect(told(await ask(app, 1))).toEqual({ 'RateLimit-Policy': policy, ...allowed });
    expect(told(await ask(app, 5))).toEqual({
      'RateLimit-Policy': policy,
      ...refused,
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it('writes a header once that two dialects agree on', async () => {
    expect(told(await ask(await open(['draft-7', 'draft-6', 'legacy']), 6))).toEqual({
      'RateLimit-Policy': ['5;w=10'],
      RateLimit: ['limit=5, remaining=0, reset=10'],
      'RateLimit-Limit': ['5'],
      'RateLimit-Remaining': ['0'],
      'RateLimit-Reset': ['10'],
      'X-RateLimit-Limit': ['5'],
      'X-RateLimit-Remaining': ['0'],
      'X-RateLimit-Reset': ['10'],
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it('says several policies in each dialect as its draft has it, readable by any parser', async () => {
    const ofAll = async (headers: string) => {
      const app = await open(headers, RULES, { always: 'token-bucket,50,1m,by=ip,name=address' });
      const { headers: answer } = await ask(app, 2, '/plain/joined');
      const read = (name: string) => parseList(answer[name] ?? '').map(([value]) => value);
      expect(answer['ratelimit-policy']).not.toMatch(/Infinity|NaN/);
      return { answer, policies: read('ratelimit-policy') };
    };
    const draft8 = await ofAll('draft-8');
    expect(draft8.policies).toEqual(['Plain.joined', 'hourly', 'address']);
    expect(draft8.answer['ratelimit']).toBe(
      '"Plain.joined";r=1;t=1, "hourly";r=98;t=2755, "address";r=48;t=3',
    );
    const draft7 = await ofAll('draft-7');
    expect(draft7.policies).toEqual([3, 100, 50]);
    const state = [...parseDictionary(draft7.answer['ratelimit'] ?? '')];
    expect(state.map(([key, [value]]) => [key, value])).toEqual([
      ['limit', 3],
      ['remaining', 1],
      ['reset', 1],
    ]);
    const draft6 = await ofAll('draft-6');
    expect(draft6.answer['ratelimit-policy']).toBe('3;w=1, 100;w=3600, 50;w=60');
    const item = (name: string) => parseItem(draft6.answer[`ratelimit-${name}`] ?? '')[0];
    expect([item('limit'), item('remaining'), item('reset')]).toEqual([3, 1, 1]);
  });

  it('speaks as a function says, which gets the decision', async () => {
    const decisions: Decision[] = [];
    const app = await open((decision: Decision) => {
      decisions.push(decision);
      return { 'X-Left': `${decision.remaining} of ${decision.limit}` };
    });
    expect(told(await ask(app, 1))).toEqual({ 'X-Left': ['4 of 5'] });
    expect(decisions).toHaveLength(1);
    expect(decisions[0]).toMatchObject({ allowed: true, policy: 'default', windowMillis: 10_000 });
    expect(told(await ask(app, 5))).toEqual({
      'X-Left': ['0 of 5'],
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it('speaks a function and a dialect by name', async () => {
    const mine = ({ remaining }: Decision) => ({ 'X-Left': String(remaining) });
    expect(told(await ask(await open([mine, 'ietf']), 1))).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=4;t=2'],
      'X-Left': ['4'],
    });
  });

  it.each([
    ['throws', () => JSON.parse('{')],
    ['answers nothing', () => undefined],
    ['answers a list', () => ['X-Left: 4']],
    ['answers a promise that fails', async () => JSON.parse('{')],
    ['writes a number', ({ remaining }: Decision) => ({ 'X-Left': remaining })],
    ['writes another script', () => ({ 'X-Left': 'четыре' })],
    ['writes two lines', () => ({ 'X-Left': '4\r\nSet-Cookie: a=b' })],
    ['writes a name that is none', () => ({ 'X Left': '4' })],
    ['says how long the answer is', () => ({ 'Content-Length': '1', Trailer: 'X-Left' })],
  ])('leaves out what a function gets wrong that %s, and warns once', async (_, wrong) => {
    const right = ({ limit }: Decision) => ({ 'X-RateLimit-Limit': String(limit) });
    const app = await open(['ietf', wrong, right]);
    const allowed = await ask(app, 2);
    expect(allowed.status).toBe(200);
    expect(allowed.body).toEqual({});
    expect(told(allowed)).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=3;t=2'],
      'X-RateLimit-Limit': ['5'],
    });
    const refused = await ask(app, 4);
    expect(refused.status).toBe(429);
    expect(told(refused)).toMatchObject({ 'Retry-After': ['2'], 'X-RateLimit-Limit': ['5'] });
    expect(valuesOf(refused, 'Set-Cookie')).toEqual([]);
    expect(app.logs.warnings('option headers')).toHaveLength(1);
    expect(app.logs.ofLimiter('warn')).toHaveLength(1);
  });

  it('lets a function overrule what stands before it, but not when to come back', async () => {
    const mine = () => ({ 'ratelimit-policy': 'ask us', 'retry-after': '0' });
    const refused = await ask(await open(['ietf', mine]), 6);
    expect(told(refused)).toEqual({
      'RateLimit-Policy': ['ask us'],
      RateLimit: ['"default";r=0;t=2'],
      'Retry-After': ['2'],
      'Cache-Control': ['no-store'],
    });
  });

  it.each([[false], [[]]])('says only when to come back for %j', async (headers) => {
    const app = await open(headers);
    expect(told(await ask(app, 1))).toEqual({});
    const refused = await ask(app, 5);
    expect(refused.body.retryAfterMillis).toBe(2000);
    expect(told(refused)).toEqual({ 'Retry-After': ['2'], 'Cache-Control': ['no-store'] });
  });

  it('says nothing where nothing is limited', async () => {
    const app = await open(['ietf', 'legacy'], {});
    expect(told(await ask(app, 1))).toEqual({});
    const limited = await open(['ietf', 'legacy']);
    expect(told(await ask(limited, 1, '/plain/free'))).toEqual({});
  });

  it('says nothing to whom the rules are not for', async () => {
    const app = await open(['ietf', 'legacy'], { user: { vip: 'fixed-window,2,10' } });
    expect(told(await ask(app, 1))).toEqual({});
    const vip = await app.http.get('/plain').set({ 'x-user': 'vip' });
    expect(vip.headers['ratelimit']).toBe('"user:vip";r=1;t=5');
  });

  it('says each rule of several in one header', async () => {
    const app = await open('ietf', RULES, { always: 'token-bucket,50,1m,by=ip,name=address' });
    expect(told(await ask(app, 2, '/plain/joined'))).toEqual({
      'RateLimit-Policy': ['"Plain.joined";q=3;w=1, "hourly";q=100;w=3600, "address";q=50;w=60'],
      RateLimit: ['"Plain.joined";r=1;t=1, "hourly";r=98;t=2755, "address";r=48;t=2'],
    });
  });

  it('says in the headers of old what the rule that decides says', async () => {
    const app = await open('legacy');
    expect(told(await ask(app, 1, '/plain/joined'))).toMatchObject({
      'X-RateLimit-Limit': ['3'],
      'X-RateLimit-Remaining': ['2'],
    });
  });

  it('numbers the rules of a policy that have no name', async () => {
    const rules = { default: 'token-bucket,5,10 & fixed-window,9,10 & fixed-window,99,1h' };
    const { headers } = await ask(await open('ietf', rules), 1);
    expect(headers['ratelimit-policy']).toBe(
      '"default";q=5;w=10, "default-2";q=9;w=10, "default-3";q=99;w=3600',
    );
  });

  it('says the burst as the quota, and the time to fill it as the window', async () => {
    const rules = { default: 'token-bucket,5,10,burst=20' };
    const app = await open(['ietf', 'legacy'], rules);
    expect(told(await ask(app, 1))).toEqual({
      'RateLimit-Policy': ['"default";q=20;w=40'],
      RateLimit: ['"default";r=19;t=2'],
      'X-RateLimit-Limit': ['20'],
      'X-RateLimit-Remaining': ['19'],
      'X-RateLimit-Reset': ['2'],
    });
  });

  it('leaves a window below a second out, and rounds a wait up to one', async () => {
    const app = await open('ietf', { default: 'fixed-window,1,250ms' });
    expect(told(await ask(app, 2))).toEqual({
      'RateLimit-Policy': ['"default";q=1'],
      RateLimit: ['"default";r=0;t=1'],
      'Retry-After': ['1'],
      'Cache-Control': ['no-store'],
    });
  });

  it('writes large numbers in digits, of which a structured field has 15 at most', async () => {
    const app = await open(['ietf', 'legacy'], { default: 'fixed-window,9007199254740991,365d' });
    const response = await ask(app, 1);
    expect(response.headers['ratelimit-policy']).toBe('"default";q=999999999999999;w=31536000');
    expect(response.headers['ratelimit']).toMatch(/^"default";r=999999999999999;t=\d+$/);
    expect(response.headers['x-ratelimit-limit']).toBe('9007199254740991');
    expect(response.headers['x-ratelimit-remaining']).toBe('9007199254740990');
  });

  it('says the longest wait of those that refuse, enough for all of them', async () => {
    const rules = { default: 'fixed-window,1,10,name=short & fixed-window,1,1m,name=long' };
    const refused = await ask(await open('ietf', rules), 2);
    expect(refused.body).toMatchObject({ policy: 'long', retryAfterMillis: 55_000 });
    expect(refused.headers['retry-after']).toBe('55');
  });

  it('forbids keeping a refusal, whatever the handler says of its answers', async () => {
    const app = await open('ietf');
    expect(told(await ask(app, 1, '/plain/cached'))).toMatchObject({
      'Cache-Control': ['public, max-age=60'],
    });
    expect(told(await ask(app, 1, '/plain/cached'))).toMatchObject({
      'Cache-Control': ['no-store'],
      'Retry-After': ['5'],
    });
  });

  it.each([
    ['letters beyond ASCII', 'жук', '"user:%D0%B6%D1%83%D0%BA"'],
    ['quotes and backslashes', 'a"b\\c', '"user:a\\"b\\\\\\\\c"'],
    ['control characters', 'a\r\nSet-Cookie: b=c\0', '"user:a%0D%0ASet-Cookie: b=c%00"'],
    ['a lone surrogate', 'a\ud800', '"user:a%EF%BF%BD"'],
    ['an emoji', '🍵', '"user:%F0%9F%8D%B5"'],
  ])('bears policy names with %s', async (_, id, name) => {
    const rules = { user: { [id]: 'fixed-window,1,10' } };
    const app = await open(['ietf', 'legacy'], rules, { user: () => id });
    const allowed = await ask(app, 1);
    expect(allowed.status).toBe(200);
    expect(valuesOf(allowed, 'RateLimit-Policy')).toEqual([`${name};q=1;w=10`]);
    expect(valuesOf(allowed, 'RateLimit')).toEqual([`${name};r=0;t=5`]);
    const refused = await ask(app, 1);
    expect(refused.status).toBe(429);
    expect(valuesOf(refused, 'Retry-After')).toEqual(['5']);
    expect(valuesOf(refused, 'Set-Cookie')).toEqual([]);
  });

  it('names no wait where none helps', async () => {
    class NeverStore extends SlowStore {
      override async decide(entries: readonly StoreEntry[], now: number) {
        const outcomes = await super.decide(
          entries.map((entry) => ({ ...entry, cost: 9 })),
          now,
        );
        return outcomes as readonly Outcome[];
      }
    }
    const app = await open(['ietf', 'legacy'], RULES, {
      store: new NeverStore(new MemoryStore()),
    });
    const refused = await ask(app, 1);
    expect(refused.status).toBe(429);
    expect(told(refused)).toEqual({
      'RateLimit-Policy': ['"default";q=5;w=10'],
      RateLimit: ['"default";r=5;t=0'],
      'X-RateLimit-Limit': ['5'],
      'X-RateLimit-Remaining': ['5'],
      'X-RateLimit-Reset': ['0'],
      'Cache-Control': ['no-store'],
    });
    expect(refused.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: expect.any(String),
      policy: 'default',
    });
    expect(refused.text).not.toMatch(/Infinity|null|NaN/);
  });

  it('says the same in an exception of your own', async () => {
    @Controller('own')
    class Own {
      @Get()
      get() {
        throw new RateLimitExceededException({
          allowed: false,
          reason: 'quota',
          policy: 'mail',
          limit: 1,
          windowMillis: 1000,
          remaining: 0,
          retryAfterMillis: 1500,
          resetAfterMillis: 1500,
          moreAfterMillis: 1500,
          rules: undefined,
        });
      }
    }
    const { http } = await start(adapter, { limits: {}, controllers: [Own] });
    const response = await http.get('/own');
    expect(response.status).toBe(429);
    expect(response.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: 'Too many requests, try again in 2 s',
      policy: 'mail',
      retryAfterMillis: 1500,
    });
  });
});
