import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get } from '@nestjs/common';
import {
  Clock,
  MemoryStore,
  RateLimit,
  RateLimitConfigError,
  type RateLimitEvent,
  type RateLimitService,
  type RateLimitStore,
} from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { FakeClock } from 'nestjs-doorman/testing';
import { turn, WatchedClock } from '../core/waiting.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ADAPTERS, byHeader, left, type Running, START, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('search')
  @Get('search')
  search() {
    return {};
  }

  @RateLimit('fixed-window,2,10,name=own')
  @Get('own')
  own() {
    return {};
  }
}

const controllers = [Shop];
const SEARCH = { policy: { search: 'fixed-window,9,10' } };

function eventsOf({ events$ }: RateLimitService): RateLimitEvent[] {
  const events: RateLimitEvent[] = [];
  events$.subscribe((event) => events.push(event));
  return events;
}

/** What the last reload changed. */
function changesOf(events: readonly RateLimitEvent[]): unknown {
  const last = events.at(-1);
  return last?.type === 'reloaded' ? last.changes : last;
}

/** The error of a reload; each test expects one. */
function refusalOf(service: RateLimitService, rules: unknown): RateLimitConfigError {
  try {
    service.reload(rules as string);
  } catch (error) {
    expect(error).toBeInstanceOf(RateLimitConfigError);
    return error as RateLimitConfigError;
  }
  throw new Error('The rules were taken');
}

// ── in force at once ──────────────────────────────────────────────────────────────────────────────

describe.each(ADAPTERS)('rules that are reloaded on %s', (adapter) => {
  const before = {
    default: 'fixed-window,2,10',
    policy: { search: 'fixed-window,1,10' },
    always: 'fixed-window,50,10,by=user',
  };
  const after = {
    default: 'fixed-window,4,10',
    policy: { search: 'fixed-window,3,10' },
    always: 'fixed-window,8,10,by=user',
  };
  const afterText = `
    default = ${after.default}
    policy.search = ${after.policy.search}   # more than before
    always = ${after.always}
  `;

  it.each([
    ['an object', after],
    ['text', afterText],
  ])('as %s are in force at once, for what was served before', async (_, rules) => {
    const app = await start(adapter, { controllers, limits: byHeader(before) });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 2, '/search', ALICE)).toEqual([200, 429]);
    expect((await app.service.check('alice', 'mail')).remaining).toBe(1);
    app.service.reload(rules);
    const response = await app.http.get('/plain').set(ALICE);
    expect(response.headers['ratelimit-policy']).toBe('"default";q=4;w=10, "always";q=8;w=10');
    expect(response.headers['ratelimit']).toBe('"default";r=1;t=5, "always";r=3;t=5');
    expect(await app.service.check('alice', 'mail')).toMatchObject({ limit: 4, remaining: 2 });
    expect(await statuses(app, 2, '/search', ALICE)).toEqual([200, 200]);
    // The eight of all: three of /plain, three of /search, two of mail.
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([429]);
    expect(await app.service.check('bob', 'mail')).toMatchObject({ limit: 4, remaining: 3 });
  });

  it('leave as they are what decorators say by themselves', async () => {
    const app = await start(adapter, { controllers, limits: byHeader(before) });
    expect(await statuses(app, 1, '/own', ALICE)).toEqual([200]);
    app.service.reload({ ...after, default: 'fixed-window,9,10' });
    expect(await statuses(app, 2, '/own', ALICE)).toEqual([200, 429]);
  });

  it('may limit what was not limited, and lift what was', async () => {
    const app = await start(adapter, { controllers, limits: byHeader(SEARCH) });
    expect((await app.http.get('/plain').set(ALICE)).headers['ratelimit']).toBeUndefined();
    app.service.reload({ ...SEARCH, api: { '/plain': 'fixed-window,1,10' } });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
    app.service.reload({ ...SEARCH, user: { alice: 'fixed-window,2,10' } });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    app.service.reload(SEARCH);
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
  });

  it('may switch the module to shadow, to enforce, off and back', async () => {
    const book = (mode?: 'enforce' | 'shadow' | 'off') => ({
      ...SEARCH,
      default: 'fixed-window,2,10',
      ...(mode && { mode }),
    });
    const app = await start(adapter, { controllers, limits: byHeader(book('shadow')) });
    const events = eventsOf(app.service);
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 200]);
    app.service.reload(book('enforce'));
    const mode = { place: 'mode', restarts: false };
    expect(changesOf(events)).toEqual([{ ...mode, before: 'shadow', after: 'enforce' }]);
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([429]);
    app.service.reload(book('off'));
    expect(changesOf(events)).toEqual([{ ...mode, before: 'enforce', after: 'off' }]);
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    app.service.reload(book()); // the option's, which is the default
    expect(changesOf(events)).toEqual([{ ...mode, before: 'off', after: 'enforce' }]);
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([429]);
  });

  it('never answer a 500 nor lift a limit, a thousand times with requests in between', async () => {
    const books = [
      'default = fixed-window,5,10',
      'default = fixed-window,3,10\nalways = token-bucket,100,1,by=global',
      'user.alice = shared\npolicy.shared = fixed-window,4,10,name=shared\ndefault = shared',
      'default = fixed-window,nonsense,10',
    ].map((text) => `policy.search = fixed-window,5,10\n${text}`);
    const app = await start(adapter, { controllers, limits: byHeader(books[0]) });
    const seen = new Map<string, number>();
    const pending: Promise<unknown>[] = [];
    for (let i = 0; i < 1000; i++) {
      if (i % 4 === 3) refusalOf(app.service, books[3]);
      else app.service.reload(books[i % 4]!);
      if (i % 5 > 0) continue;
      const path = i % 2 === 0 ? '/plain' : '/search';
      const send = async () => {
        const { status } = await app.http.get(path).set(ALICE);
        seen.set(`${path} ${status}`, (seen.get(`${path} ${status}`) ?? 0) + 1);
      };
      pending.push(send());
      if (i % 3 === 0) await Promise.all(pending.splice(0));
    }
    await Promise.all(pending);
    // 100 of each: 5 at `default`, of which 4 at `shared` are apart, are let in; and 5 by `search`.
    expect([...seen.keys()].sort()).toEqual([
      '/plain 200',
      '/plain 429',
      '/search 200',
      '/search 429',
    ]);
    expect(seen.get('/search 200')).toBe(5);
    expect(seen.get('/plain 200')).toBeLessThanOrEqual(9);
    expect(app.logs.ofLimiter('error')).toHaveLength(250);
  });
});

// ── counters ──────────────────────────────────────────────────────────────────────────────────────

/** 7 of 8 are taken at 0 s of a box of 10 s; what is left after a reload is worked out by hand. */
const GOES_ON: readonly (readonly [string, string, number])[] = [
  ['fixed-window,8,10', 'fixed-window,10,10', 3],
  ['fixed-window,8,10', 'fixed-window,4,10', 0],
  ['sliding-window,8,10', 'sliding-window,10,10', 3],
  ['sliding-window,8,10', 'sliding-window,4,10', 0],
  ['sliding-window-counter,8,10', 'sliding-window-counter,10,10', 3],
  ['sliding-window-counter,8,10', 'sliding-window-counter,4,10', 0],
  // Full again in 8750 ms: of 16 per 10 s a token is missing for each 625 of them.
  ['token-bucket,8,10', 'token-bucket,16,10', 2],
  ['token-bucket,8,10', 'token-bucket,4,10', 0],
  ['token-bucket,8,10', 'token-bucket,8,10,burst=10', 3],
];

function counting(open: () => Promise<RateLimitStore>) {
  const serve = async (rule: string) => {
    const limits = byHeader({ default: rule }, { store: await open() });
    const app = await start('express', { limits, startMillis: 1_767_225_600_000 });
    return { ...app, events: eventsOf(app.service) };
  };

  it.each(GOES_ON)('go on from %s to %s, and back', async (before, after, remaining) => {
    const { service, events, logs } = await serve(before);
    expect((await service.check('alice', 'mail', { cost: 7 })).remaining).toBe(1);
    service.reload({ default: after });
    expect((await service.peek('alice', 'mail', { cost: 0 })).remaining).toBe(remaining);
    const change = { place: 'default', restarts: false };
    expect(events).toMatchObject([{ type: 'reloaded', changes: [change] }]);
    expect(logs.ofLimiter('log').slice(1)).toEqual(['Rules reloaded: 1 change']);
    service.reload({ default: before });
    expect((await service.peek('alice', 'mail', { cost: 0 })).remaining).toBe(1);
  });

  it.each(['fixed-window', 'sliding-window', 'sliding-window-counter'])(
    'of %s let in what a higher limit has room for, also whom a lower one just refused',
    async (algorithm) => {
      const { service } = await serve(`${algorithm},2,10`);
      const three = async () => {
        const seen: boolean[] = [];
        for (let i = 0; i < 3; i++) seen.push((await service.check('alice', 'mail')).allowed);
        return seen;
      };
      expect(await three()).toEqual([true, true, false]);
      service.reload({ default: `${algorithm},4,10` });
      expect(await three()).toEqual([true, true, false]);
      service.reload({ default: `${algorithm},1,10` });
      expect(await three()).toEqual([false, false, false]);
      service.reload({ default: `${algorithm},5,10` });
      expect(await three()).toEqual([true, false, false]);
    },
  );

  it.each([
    ['the window', 'fixed-window,8,10', 'fixed-window,8,20', '8,10s', '8,20s'],
    ['the algorithm', 'fixed-window,8,10', 'sliding-window,8,10', '8,10s', '8,10s'],
    [
      'what is counted by',
      'fixed-window,8,10',
      'fixed-window,8,10,by=user',
      '8,10s',
      '8,10s,by=user',
    ],
    ['the name', 'fixed-window,8,10', 'fixed-window,8,10,name=n', '8,10s', '8,10s,name=n'],
  ])('begin anew where %s changes, and say so', async (_, before, after, was, is) => {
    const { service, events, logs } = await serve(before);
    await service.check('alice', 'mail', { cost: 8 });
    service.reload({ default: after });
    expect((await service.peek('alice', 'mail')).remaining).toBe(8);
    expect(changesOf(events)).toEqual([
      {
        place: 'default',
        before: `${before.split(',')[0]},${was}`,
        after: `${after.split(',')[0]},${is}`,
        restarts: true,
      },
    ]);
    expect(logs.ofLimiter('log').slice(1)).toEqual([
      'Rules reloaded: 1 change, counting begins anew at default',
    ]);
    service.reload({ default: before });
    expect((await service.peek('alice', 'mail')).remaining).toBe(0);
  });

  it('keep a block, and what was reserved before is settled after', async () => {
    const { service } = await serve('fixed-window,8,10');
    const reservation = await service.reserve('alice', 'mail', { cost: 6 });
    await service.block('bob', 'mail', 60_000);
    service.reload({ default: 'fixed-window,10,10' });
    await reservation.commit(1);
    expect((await service.peek('alice', 'mail', { cost: 0 })).remaining).toBe(9);
    expect((await service.check('bob', 'mail')).reason).toBe('blocked');
    await service.unblock('bob', 'mail');
    expect((await service.check('bob', 'mail')).remaining).toBe(9);
  });
}

describe('counters in memory, when rules are reloaded', () => {
  counting(async () => new MemoryStore());
});

describeWithRedis('counters in Redis, when rules are reloaded', () => {
  let server: RedisServer;
  let stores = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  counting(async () => {
    const target = { url: `redis://127.0.0.1:${server.port}` };
    const prefix = `reload-${++stores}`;
    const store = new RedisStore(target, { prefix, time: 'clock', timeoutMillis: 2000 });
    await until('the store is connected', () => store.connected);
    return store;
  });
});

// ── faulty books ──────────────────────────────────────────────────────────────────────────────────

const NINE = Array.from({ length: 9 }, (_, i) => `api./n${i} = fixed-window,${i + 1},10`);

describe('a faulty book', () => {
  it.each(['', ' \n', '# all gone\n'])('may not be text that says nothing: %j', async (text) => {
    const running = await start('express', { limits: byHeader(SEARCH), controllers });
    const error = refusalOf(running.service, text);
    expect(error.faults.map(({ code }) => code)).toContain('BOOK_VALUE');
    expect(error.message).toContain('holds no rules');
    expect((await running.http.get('/search').set(ALICE)).headers['ratelimit']).toMatch(/r=8/);
  });

  const serve = async () => {
    const rules = { ...SEARCH, default: 'fixed-window,2,10' };
    const app = await start('express', { controllers, limits: byHeader(rules) });
    return { ...app, events: eventsOf(app.service) };
  };

  it.each<[string, unknown, readonly (readonly [string, RegExp])[]]>([
    [
      'with one line of ten that is wrong',
      `policy.search = fixed-window,1,1\n${NINE.join('\n')}\ndefault = fixd-window,9,10`,
      [['RULE_ALGORITHM', /default/]],
    ],
    [
      'with two lines that are wrong',
      `policy.search = fixed-window,1,1\n${NINE.join('\n')}\ndefault = fixed-window,0,10\nno rule`,
      [
        ['BOOK_KEY', /line 12/],
        ['RULE_LIMIT', /default/],
      ],
    ],
    [
      'without a policy that a decorator names',
      { default: 'fixed-window,9,10' },
      [['POLICY_UNKNOWN', /Shop\.search/]],
    ],
    [
      'with a name that a decorator has',
      { ...SEARCH, default: 'fixed-window,9,10,name=own' },
      [['NAME_CONFLICT', /Shop\.own/]],
    ],
    [
      'with two rules of one name',
      { ...SEARCH, api: { '/a': 'fixed-window,9,10,name=x', '/b': 'fixed-window,8,10,name=x' } },
      [['NAME_CONFLICT', /api:\/b/]],
    ],
    [
      'with a dimension that nobody knows',
      { ...SEARCH, default: 'fixed-window,9,10,by=tenant' },
      [['RULE_DIMENSION', /default/]],
    ],
    [
      'with a log that is too long',
      { ...SEARCH, default: 'sliding-window,9999,10' },
      [['RULE_LOG_TOO_LARGE', /default/]],
    ],
    ['with a mode that is none', { ...SEARCH, mode: 'shadwo' }, [['BOOK_VALUE', /mode/]]],
  ])('%s is refused as a whole, and told', async (_, rules, faults) => {
    const { service, events, logs, ...app } = await serve();
    const { book } = service;
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([200]);
    const error = refusalOf(service, rules);
    expect(error.faults.map(({ code }) => code).sort()).toEqual(faults.map(([code]) => code));
    for (const [code, place] of faults) {
      expect(error.faults.find((fault) => fault.code === code)?.place).toMatch(place);
    }
    expect(events).toEqual([{ type: 'reload-refused', error }]);
    expect(logs.ofLimiter('error')).toEqual([
      `The new rules are faulty, and the old rules stay: ${error.message}`,
    ]);
    expect(logs.ofLimiter('log').slice(1)).toEqual([]);
    expect(service.book).toBe(book);
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
    service.reload({ ...SEARCH, default: 'fixed-window,3,10' });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
  });

  it.each([undefined, null, 7, true, [[]], () => undefined])(
    'that is none is refused: %p',
    async (rules) => {
      const { service, ...app } = await serve();
      expect(refusalOf(service, rules).faults.length).toBeGreaterThan(0);
      expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    },
  );
});

// ── layers ────────────────────────────────────────────────────────────────────────────────────────

describe('a reload', () => {
  it('leaves the option always in force, unless the new rules name it too', async () => {
    const limits = byHeader(
      { default: 'fixed-window,9,10' },
      { always: { flood: 'fixed-window,4,10,by=user' } },
    );
    const { service } = await start('express', { limits });
    const names = async () =>
      (await service.explain('alice', 'mail')).rules.map(({ rule }) => rule);
    service.reload({ default: 'fixed-window,8,10' });
    expect(await names()).toEqual(['fixed-window,8,10s', 'fixed-window,4,10s,by=user']);
    service.reload({ default: 'fixed-window,8,10', always: { more: 'fixed-window,7,10' } });
    expect(await names()).toEqual([
      'fixed-window,8,10s',
      'fixed-window,4,10s,by=user',
      'fixed-window,7,10s',
    ]);
    service.reload('always.flood = fixed-window,3,10,by=user');
    expect(await names()).toEqual(['fixed-window,3,10s,by=user']);
    service.reload('default = fixed-window,8,10');
    expect(await names()).toEqual(['fixed-window,8,10s', 'fixed-window,4,10s,by=user']);
  });

  it('puts another book in force, which the service answers', async () => {
    const { service } = await start('express', {
      limits: byHeader({ default: 'fixed-window,9,10' }),
    });
    const before = service.book;
    service.reload({ default: 'fixed-window,8,10', user: { bob: 'fixed-window,1,10' } });
    expect(service.book).not.toBe(before);
    expect(String(service.book.ruleFor('alice', 'mail'))).toBe('fixed-window,8,10s');
    expect(String(service.book.ruleFor('bob', 'mail'))).toBe('fixed-window,1,10s');
    expect(String(before.ruleFor('bob', 'mail'))).toBe('fixed-window,9,10s');
  });

  it('changes what policies by name mean in calls, and keeps what calls hand in', async () => {
    const { service } = await start('express', {
      limits: byHeader({ policy: { a: 'fixed-window,2,10' } }),
    });
    const check = (policy: string) => service.check('alice', 'mail', { policy });
    expect((await check('a')).remaining).toBe(1);
    expect((await check('fixed-window,5,10')).remaining).toBe(4);
    service.reload({ policy: { a: 'fixed-window,4,10' } });
    expect((await check('a')).remaining).toBe(2);
    expect((await check('fixed-window,5,10')).remaining).toBe(3);
    service.reload({ policy: { b: 'fixed-window,4,10' } });
    await expect(check('a')).rejects.toThrow(RateLimitConfigError);
  });

  it('has who waits come in by the rule that he came under, and no more than that', async () => {
    const clock = new WatchedClock(START);
    const limits = byHeader({ default: 'token-bucket,2,2,wait=5s' });
    const override = (
      builder: Parameters<NonNullable<Parameters<typeof start>[1]['override']>>[0],
    ) => builder.overrideProvider(Clock).useValue(clock);
    const app = await start('express', { controllers: [Plain], limits, override });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 200]);
    const waiting = app.http
      .get('/plain')
      .set(ALICE)
      .then(({ status }) => status);
    await until('it waits', () => clock.asleep > 0);
    const acquired = app.service.acquire('alice', '/plain');
    await turn();
    app.service.reload({ default: 'token-bucket,1,2,wait=5s' });
    await clock.pass(2000);
    expect(await waiting).toBe(200);
    expect((await acquired).allowed).toBe(true);
    expect(await app.service.check('alice', '/plain')).toMatchObject({ allowed: false, limit: 1 });
    expect(clock.asleep).toBe(0);
  });
});

@Controller()
class Plain {
  @Get('plain')
  plain() {
    return {};
  }
}

// ── the file ──────────────────────────────────────────────────────────────────────────────────────

const POLL = 10_000;
const folder = mkdtempSync(join(tmpdir(), 'doorman-reload-'));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

/** Says when somebody lies down: then a look at the file is over. */
class SleepClock extends FakeClock {
  private arrived: ((millis: number) => void)[] = [];

  nextSleep(): Promise<number> {
    return new Promise((resolve) => this.arrived.push(resolve));
  }

  override sleep(...[millis, signal]: Parameters<FakeClock['sleep']>): Promise<void> {
    const sleep = super.sleep(millis, signal);
    for (const tell of this.arrived.splice(0)) tell(millis);
    return sleep;
  }
}

interface Watched extends Pick<Running, 'service' | 'logs' | 'http'> {
  readonly path: string;
  readonly events: readonly RateLimitEvent[];
  write(text: string): void;
  /** Lets so much time pass, and the reading that comes then come to its end. */
  pass(millis: number): Promise<number>;
  /** A whole look. */
  look(): Promise<void>;
  /** How many a new caller is let in, as the service says. */
  limit(): Promise<number>;
}

async function watch(text: string, rules: unknown = SEARCH, link?: string): Promise<Watched> {
  const path = link ?? join(folder, `rules-${++files}.properties`);
  if (!link) writeFileSync(path, text);
  const clock = new SleepClock(START);
  const { service, logs, http } = await start('express', {
    controllers: [Plain],
    limits: byHeader(rules, { rulesFile: { path, pollMillis: POLL } }),
    override: (builder) => builder.overrideProvider(Clock).useValue(clock),
  });
  const pass = (millis: number) => {
    const next = clock.nextSleep();
    clock.advance(millis);
    return next;
  };
  const look = async () => {
    for (let next = await pass(POLL); next < POLL; ) next = await pass(next);
  };
  const limit = async () => (await service.peek('new', 'mail', { cost: 0 })).limit;
  const write = (later: string) => writeFileSync(path, later);
  return { path, service, logs, http, events: eventsOf(service), write, pass, look, limit };
}

const book = (limit: number) => `default = fixed-window,${limit},10\n`;

describe('a rules file that is looked at', () => {
  it('is in force when it has changed, once', async () => {
    const { write, look, limit, logs, events, http } = await watch(book(2));
    expect(await statuses({ http }, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    write(book(3));
    expect(await limit()).toBe(2);
    for (let i = 0; i < 3; i++) await look();
    expect(await limit()).toBe(3);
    expect(left(await http.get('/plain').set(ALICE))).toBe(2); // another box by now
    expect(logs.ofLimiter('log').slice(1)).toEqual(['Rules reloaded: 1 change']);
    expect(events).toEqual([
      {
        type: 'reloaded',
        changes: [
          {
            place: 'default',
            before: 'fixed-window,2,10s',
            after: 'fixed-window,3,10s',
            restarts: false,
          },
        ],
      },
    ]);
  });

  it('is refused as a whole where it is faulty, with one line for each content', async () => {
    const { write, look, limit, logs, events, path } = await watch(book(2));
    write(`${book(3)}api./x = fixed-window,0,10\napi./y = fixd-window,1,10\n`);
    for (let i = 0; i < 3; i++) await look();
    expect(await limit()).toBe(2);
    expect(logs.ofLimiter('error')).toHaveLength(1);
    expect(logs.ofLimiter('error')[0]).toMatch(
      new RegExp(`^The rules file ${path} is faulty, and the old rules stay: 2 faults:`),
    );
    expect(events).toMatchObject([{ type: 'reload-refused', error: { code: 'RULE_LIMIT' } }]);
    write(book(4));
    await look();
    expect(await limit()).toBe(4);
    expect(logs.ofLimiter('error')).toHaveLength(1);
  });

  it('is not believed while it is half written', async () => {
    const { write, pass, limit, logs } = await watch(book(2));
    write('default = fixed-win');
    await pass(POLL);
    write(`${book(3)}default`);
    await pass(200);
    write(book(5));
    await pass(200);
    await pass(200);
    expect(await limit()).toBe(5);
    expect(logs.ofLimiter('error')).toEqual([]);
    expect(logs.ofLimiter('log').slice(1)).toHaveLength(1);
  });

  it.each([
    ['empty', ''],
    ['blank', ' \r\n\t\n'],
    ['a mark of its byte order', '\uFEFF'],
    ['comments', '# default = fixed-window,2,10\n   # nothing\r\n'],
  ])(
    'is refused when it is %s and was not, which would lift the limits in it',
    async (_, nothing) => {
      const { write, look, limit, logs, events, path } = await watch(book(2));
      write(nothing);
      for (let i = 0; i < 3; i++) await look();
      expect(await limit()).toBe(2);
      expect(events).toMatchObject([
        {
          type: 'reload-refused',
          error: {
            faults: [
              {
                code: 'BOOK_FILE',
                place: 'option rulesFile',
                given: path,
                problem: expect.stringContaining('holds no rules any more'),
              },
            ],
          },
        },
      ]);
      expect(logs.ofLimiter('error')).toHaveLength(1);
      write(book(3));
      await look();
      expect(await limit()).toBe(3);
    },
  );

  it.each(['', '# later\n'])('may go on to say nothing: %p', async (nothing) => {
    const { write, look, limit, logs } = await watch(nothing, { default: 'fixed-window,7,10' });
    write(`${nothing}\n# still nothing\n`);
    await look();
    expect(logs.ofLimiter('error')).toEqual([]);
    expect(await limit()).toBe(7);
    write(book(3));
    await look();
    expect(await limit()).toBe(3);
    write(nothing); // now it is one that said something
    await look();
    expect(await limit()).toBe(3);
    expect(logs.ofLimiter('error')).toHaveLength(1);
  });

  it('may say nothing but that all is off', async () => {
    const { write, look, service } = await watch(book(1));
    write('mode = off\n');
    await look();
    expect((await service.check('alice', 'mail')).policy).toBe('unlimited');
    write(book(1));
    await look();
    expect((await service.check('alice', 'mail')).remaining).toBe(0);
  });

  it('stays in force while it is away, which is told once', async () => {
    const { path, write, look, limit, logs } = await watch(book(2));
    rmSync(path);
    for (let i = 0; i < 3; i++) await look();
    expect(await limit()).toBe(2);
    expect(logs.warnings('cannot be read, and the rules stay', path)).toHaveLength(1);
    write(book(2));
    await look();
    expect(logs.ofLimiter('log').slice(1)).toEqual([]);
    rmSync(path);
    await look();
    write(book(3));
    await look();
    expect(await limit()).toBe(3);
    expect(logs.warnings('cannot be read')).toHaveLength(2);
  });

  it('is followed through links that are swapped', async () => {
    const root = join(folder, 'mounted');
    for (const n of [2, 3]) {
      mkdirSync(join(root, `..v${n}`), { recursive: true });
      writeFileSync(join(root, `..v${n}`, 'rules'), book(n));
    }
    symlinkSync('..v2', join(root, '..data'));
    symlinkSync(join('..data', 'rules'), join(root, 'rules'));
    const { look, limit } = await watch('', SEARCH, join(root, 'rules'));
    expect(await limit()).toBe(2);
    symlinkSync('..v3', join(root, '..new'));
    renameSync(join(root, '..new'), join(root, '..data'));
    rmSync(join(root, '..v2'), { recursive: true });
    await look();
    expect(await limit()).toBe(3);
  });

  it('has the last word over what is reloaded, entry by entry', async () => {
    const { write, look, service, limit } = await watch(book(2));
    service.reload({ default: 'fixed-window,9,10', api: { '/plain': 'fixed-window,8,10' } });
    expect(await limit()).toBe(2);
    expect((await service.peek('new', '/plain')).limit).toBe(8);
    write('api./other = fixed-window,1,10');
    await look();
    expect(await limit()).toBe(9);
    expect((await service.peek('new', '/plain')).limit).toBe(8);
  });

  it('that does not fit with what was reloaded leaves both as they were', async () => {
    const { write, look, service, limit, logs } = await watch(book(2));
    service.reload({ default: 'fixed-window,9,10', policy: { a: 'fixed-window,8,10' } });
    write('default = b');
    await look();
    expect(await limit()).toBe(2);
    expect(logs.ofLimiter('error')[0]).toContain('no policy has that name');
    // What was refused left no trace: the rules in place of the option's are taken with the old file.
    service.reload({ policy: { b: 'fixed-window,7,10' } });
    expect(await limit()).toBe(2);
  });
});
