import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  type Type,
  VersioningType,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  type Fault,
  MemoryStore,
  RateLimit,
  RateLimitConfigError,
  RateLimitModule,
  type RateLimitOptions,
  type RateLimitOptionsFactory,
  RateLimitService,
  RuleBook,
  SkipRateLimit,
  TierResolver,
} from 'nestjs-doorman';
import {
  ADAPTERS,
  type AppParts,
  byHeader,
  faultsOf,
  LogBook,
  left,
  SlowStore,
  start,
  statuses,
  userOf,
} from './support.js';

const ALICE = { 'x-user': 'alice' };
const TWO = { default: 'fixed-window,2,10' };

@Controller('plain')
class Plain {
  @Get()
  get() {
    return {};
  }
}

@Controller('decorated')
class Decorated {
  @RateLimit('fixed-window,5,10')
  @Get()
  get() {
    return {};
  }
}

const controllers = [Plain, Decorated];

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rules-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

// ── how options come in ───────────────────────────────────────────────────────────────────────────

describe.each(ADAPTERS)('the module on %s', (adapter) => {
  const limitsBy = async (parts: AppParts) => {
    const app = await start(adapter, { controllers, ...parts });
    return statuses(app, 3, '/plain', ALICE);
  };

  it('limits only what is decorated without options', async () => {
    const app = await start(adapter, { controllers, imports: [RateLimitModule.forRoot()] });
    expect(await statuses(app, 6, '/plain')).toEqual(Array<number>(6).fill(200));
    expect(await statuses(app, 6, '/decorated')).toEqual([200, 200, 200, 200, 200, 429]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('limits only what is decorated with empty options', async () => {
    const app = await start(adapter, { controllers, limits: {} });
    expect(await statuses(app, 6, '/plain')).toEqual(Array<number>(6).fill(200));
    expect((await app.http.get('/plain')).headers).not.toHaveProperty('ratelimit');
  });

  it('takes options of undefined as not given', async () => {
    const limits = { rules: TWO, user: userOf, always: undefined, headers: undefined };
    expect(await limitsBy({ limits })).toEqual([200, 200, 429]);
  });

  it('takes its options from a factory', async () => {
    const useFactory = () => ({ rules: TWO, user: userOf });
    const imports = [RateLimitModule.forRootAsync({ useFactory })];
    expect(await limitsBy({ imports })).toEqual([200, 200, 429]);
  });

  it('takes its options from a factory that injects and answers a promise', async () => {
    @Injectable()
    class Config {
      readonly rule: string = 'fixed-window,2,10';
    }
    @Module({ providers: [Config], exports: [Config] })
    class ConfigModule {}
    const imports = [
      RateLimitModule.forRootAsync({
        imports: [ConfigModule],
        inject: [Config],
        useFactory: async ({ rule }: Config) => ({ user: userOf, rules: { default: rule } }),
      }),
    ];
    expect(await limitsBy({ imports })).toEqual([200, 200, 429]);
  });

  @Injectable()
  class Factory implements RateLimitOptionsFactory {
    async createRateLimitOptions(): Promise<RateLimitOptions> {
      return { user: userOf, rules: TWO };
    }
  }

  it('takes its options from a class', async () => {
    const imports = [RateLimitModule.forRootAsync({ useClass: Factory })];
    expect(await limitsBy({ imports })).toEqual([200, 200, 429]);
  });

  it('takes its options from a provider that exists', async () => {
    @Module({ providers: [Factory], exports: [Factory] })
    class FactoryModule {}
    const imports = [
      RateLimitModule.forRootAsync({ imports: [FactoryModule], useExisting: Factory }),
    ];
    expect(await limitsBy({ imports })).toEqual([200, 200, 429]);
  });

  it('takes guard beside the factory', async () => {
    const useFactory = () => ({ user: userOf, rules: TWO });
    const imports = [RateLimitModule.forRootAsync({ guard: false, useFactory })];
    const app = await start(adapter, { controllers, imports });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
  });

  it('is there for every module without being imported again', async () => {
    @Injectable()
    class Mailer {
      constructor(readonly limits: RateLimitService) {}
    }
    @Module({ providers: [Mailer] })
    class MailModule {}
    const { app } = await start(adapter, { limits: {}, imports: [MailModule] });
    const { limits } = app.get(Mailer, { strict: false });
    expect((await limits.check('alice', 'mail', { policy: 'fixed-window,2,10' })).remaining).toBe(
      1,
    );
  });

  it('reads the book in properties text', async () => {
    const rules = `
      # who may do what how often
      default = fixed-window,9,10
      api.GET /plain = fixed-window , 2 , 10   # as before
      user.vip-1 = fixed-window,4,10
      user.guest.api./plain = fixed-window,1,10
      policy.search = fixed-window,7,10
      always.flood = fixed-window,50,1m,by=ip
    `;
    const app = await start(adapter, { controllers, limits: { rules, user: userOf } });
    expect(app.logs.warnings()).toEqual([]);
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(left(await app.http.get('/plain').set({ 'x-user': 'vip-1' }))).toBe(3);
    const guest = await app.http.get('/plain').set({ 'x-user': 'guest' });
    expect(guest.headers['ratelimit-policy']).toBe(
      '"user:guest.api./plain";q=1;w=10, "flood";q=50;w=60',
    );
  });

  it('overrides the book by a file, entry by entry', async () => {
    const rulesFile = join(directory, `${adapter}.properties`);
    writeFileSync(rulesFile, 'api./plain = fixed-window,1,10\r\nuser.bob = fixed-window,4,10\r\n');
    const rules = { default: 'fixed-window,9,10', api: { '/plain': 'fixed-window,2,10' } };
    const app = await start(adapter, { controllers, limits: byHeader(rules, { rulesFile }) });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
    expect(left(await app.http.get('/plain').set({ 'x-user': 'bob' }))).toBe(3);
    expect((await app.service.check('alice', '/else')).remaining).toBe(8);
  });

  it('reads a book from a file alone, named policies of decorators included', async () => {
    const rulesFile = join(directory, `${adapter}-alone.properties`);
    writeFileSync(rulesFile, 'policy.search = fixed-window,2,10');
    @Controller('search')
    class Search {
      @RateLimit('search')
      @Get()
      get() {
        return {};
      }
    }
    const app = await start(adapter, { controllers: [Search], limits: { rulesFile } });
    expect(await statuses(app, 3, '/search')).toEqual([200, 200, 429]);
  });

  it('changes a decorated limit in the book', async () => {
    @Controller('search')
    class Search {
      @RateLimit('search')
      @Get()
      get() {
        return {};
      }
    }
    const rulesFile = join(directory, `${adapter}-policy.properties`);
    writeFileSync(rulesFile, 'policy.search = fixed-window,3,10');
    const rules = { policy: { search: 'fixed-window,2,10' } };
    const app = await start(adapter, { controllers: [Search], limits: { rules, rulesFile } });
    expect(await statuses(app, 4, '/search')).toEqual([200, 200, 200, 429]);
  });

  it('takes always of the options and of the book together', async () => {
    const rules = { always: { one: 'fixed-window,9,10' } };
    const always = { two: 'fixed-window,8,10' };
    const app = await start(adapter, { controllers, limits: { rules, always } });
    const { headers } = await app.http.get('/plain');
    expect(headers['ratelimit-policy']).toBe('"one";q=9;w=10, "two";q=8;w=10');
  });

  it('keeps applications in one process apart', async () => {
    const first = await start(adapter, { controllers, limits: byHeader(TWO) });
    const second = await start(adapter, {
      controllers,
      limits: byHeader({ default: 'fixed-window,4,10' }),
    });
    expect(await statuses(first, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(left(await second.http.get('/plain').set(ALICE))).toBe(3);
    expect(left(await second.http.get('/decorated').set(ALICE))).toBe(4);
    expect(left(await first.http.get('/decorated').set(ALICE))).toBe(4);
    first.clock.advance(5000);
    expect(await statuses(first, 1, '/plain', ALICE)).toEqual([200]);
    expect(left(await second.http.get('/plain').set(ALICE))).toBe(2);
    await first.app.close();
    expect(left(await second.http.get('/plain').set(ALICE))).toBe(1);
  });

  it('lets two applications count in one store that both are given', async () => {
    const store = new MemoryStore();
    const first = await start(adapter, { controllers, limits: byHeader(TWO, { store }) });
    const second = await start(adapter, { controllers, limits: byHeader(TWO, { store }) });
    expect(await statuses(first, 1, '/plain', ALICE)).toEqual([200]);
    expect(await statuses(second, 2, '/plain', ALICE)).toEqual([200, 429]);
    expect(left(await first.http.get('/decorated').set(ALICE))).toBe(4);
    expect(left(await second.http.get('/decorated').set(ALICE))).toBe(3);
  });

  it('closes the store, and ends its stream of decisions, with the application', async () => {
    const store = new SlowStore(new MemoryStore());
    const { app, service } = await start(adapter, { controllers, limits: { store } });
    let ended = false;
    service.decisions$.subscribe({
      complete: () => {
        ended = true;
      },
    });
    expect(store.closed).toBe(0);
    await app.close();
    expect(store.closed).toBe(1);
    expect(ended).toBe(true);
  });
});

describe('the module in applications without HTTP', () => {
  const contextOf = async (limits: unknown, providers: unknown[] = []) => {
    const logs = new LogBook();
    @Module({ imports: [RateLimitModule.forRoot(limits as object)], providers: providers as [] })
    class Root {}
    const context = await NestFactory.createApplicationContext(Root, {
      logger: logs,
      abortOnError: false,
    });
    return { context, logs };
  };

  it('serves its service, and says at the start what is in force', async () => {
    const { context, logs } = await contextOf({ rules: TWO });
    const decision = await context.get(RateLimitService).check('alice', 'mail');
    expect(decision).toMatchObject({ allowed: true, remaining: 1, policy: 'default' });
    expect(logs.ofLimiter('log')).toHaveLength(1);
    await context.close();
  });

  it('does not start with a faulty book', async () => {
    const limits = { rules: { default: 'fixed-window,0,10' as string } };
    await expect(contextOf(limits)).rejects.toBeInstanceOf(RateLimitConfigError);
  });

  it('refuses to be told nothing by forRootAsync', () => {
    expect(() => RateLimitModule.forRootAsync({})).toThrow(/useFactory, useClass or useExisting/);
  });
});

// ── what is said at the start ─────────────────────────────────────────────────────────────────────

describe('the start', () => {
  const rules = {
    default: 'fixed-window,2,10',
    api: { '/plain': 'fixed-window,2,10' },
    user: { vip: 'fixed-window,2,10' },
  } as const;

  it('says in one line which rules there are and which store', async () => {
    const { logs } = await start('express', { controllers, limits: { rules } });
    expect(logs.ofLimiter('log')).toHaveLength(1);
    const [line] = logs.ofLimiter('log');
    expect(line).toMatch(/3 rules/);
    expect(line).toMatch(/1 decorated handler/);
    expect(line).toMatch(/memory/);
    expect(line).toMatch(/guard/);
    expect(logs.warnings()).toEqual([]);
    expect(logs.ofLimiter('error')).toEqual([]);
  });

  it('warns of each path that no route has, and names it', async () => {
    const api = {
      '/plain': 'fixed-window,2,10',
      '/plane': 'fixed-window,2,10',
      'POST /plain': 'fixed-window,2,10',
      'Query.orders': 'fixed-window,2,10',
      mail: 'fixed-window,2,10',
    };
    const user = { vip: { api: { '/vip-only': 'fixed-window,9,10' } } };
    const { logs } = await start('express', { controllers, limits: { rules: { api, user } } });
    expect(logs.warnings()).toHaveLength(3);
    expect(logs.warnings('"/plane"', '/plain')).toHaveLength(1);
    expect(logs.warnings('"POST /plain"')).toHaveLength(1);
    expect(logs.warnings('"/vip-only"')).toHaveLength(1);
  });

  it('warns where the book leaves the global prefix out', async () => {
    const { logs } = await start('express', {
      controllers,
      limits: { rules: { api: { '/plain': 'fixed-window,2,10' } } },
      setUp: (app) => app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
    });
    expect(logs.warnings('"/plain"', '/api/plain')).toHaveLength(1);
  });

  it('knows the routes of one controller in two modules with paths of their own', async () => {
    const { RouterModule } = await import('@nestjs/core');
    @Module({ controllers: [Plain] })
    class First {}
    @Module({ controllers: [Plain] })
    class Second {}
    const api = { '/first/plain': 'fixed-window,2,10', '/second/plain': 'fixed-window,3,10' };
    const app = await start('express', {
      limits: byHeader({ api }),
      imports: [
        First,
        Second,
        RouterModule.register([
          { path: 'first', module: First },
          { path: 'second', module: Second },
        ]),
      ],
    });
    expect(left(await app.http.get('/first/plain').set(ALICE))).toBe(1);
    expect(left(await app.http.get('/second/plain').set(ALICE))).toBe(2);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('warns of several processes that each count alone', async () => {
    const before = process.env['NODE_APP_INSTANCE'];
    process.env['NODE_APP_INSTANCE'] = '1';
    try {
      const { logs } = await start('express', { controllers, limits: { rules } });
      expect(logs.warnings('processes')).toHaveLength(1);
      const slow = { rules, store: new SlowStore(new MemoryStore()) };
      const shared = await start('express', { controllers, limits: slow });
      expect(shared.logs.warnings('processes')).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['NODE_APP_INSTANCE'];
      else process.env['NODE_APP_INSTANCE'] = before;
    }
  });
});

// ── faults ────────────────────────────────────────────────────────────────────────────────────────

function limited(...sources: unknown[]): Type {
  @Controller('limited')
  class Limited {
    @RateLimit(...(sources as string[]))
    @Get()
    get() {
      return {};
    }
  }
  return Limited;
}

type Expected = {
  code: string;
  place: RegExp;
  given: RegExp;
  problem: RegExp;
  meant?: string;
};

const book = (text: unknown): AppParts => ({
  controllers,
  limits: { rules: { api: { '/plain': text } } },
});
const option = (options: object): AppParts => ({ controllers, limits: options });
const decorated = (...sources: unknown[]): AppParts => ({
  controllers: [limited(...sources)],
  limits: { rules: { policy: { search: 'fixed-window,2,10' } } },
});

/** Faults of one rule, wherever it stands. */
const RULE_FAULTS: [string, unknown, Omit<Expected, 'place'>][] = [
  [
    'no rule',
    'token-bucket,5',
    { code: 'RULE_SYNTAX', given: /token-bucket,5/, problem: /algorithm,limit,window/ },
  ],
  [
    'limit 0',
    'token-bucket,0,10',
    { code: 'RULE_LIMIT', given: /token-bucket,0,10/, problem: /positive whole number, got 0/ },
  ],
  [
    'a limit with a fraction',
    'fixed-window,1.5,10',
    { code: 'RULE_LIMIT', given: /1\.5/, problem: /whole number, got 1\.5/ },
  ],
  [
    'a limit that is no number',
    'fixed-window,many,10',
    { code: 'RULE_LIMIT', given: /many/, problem: /got many/ },
  ],
  [
    'a negative window',
    'fixed-window,2,-10',
    { code: 'RULE_WINDOW', given: /-10/, problem: /got -10/ },
  ],
  [
    'a window of 0',
    'fixed-window,2,0',
    { code: 'RULE_WINDOW', given: /fixed-window,2,0/, problem: /window/ },
  ],
  [
    'half a millisecond',
    'fixed-window,2,0.5ms',
    { code: 'RULE_WINDOW', given: /0\.5ms/, problem: /whole milliseconds/ },
  ],
  [
    'an unknown unit',
    'fixed-window,2,10y',
    { code: 'RULE_WINDOW', given: /10y/, problem: /got 10y/ },
  ],
  [
    'an unknown algorithm',
    'fixd-window,2,10',
    {
      code: 'RULE_ALGORITHM',
      given: /fixd/,
      problem: /unknown algorithm "fixd-window"/,
      meant: 'fixed-window',
    },
  ],
  [
    'an unknown option',
    'fixed-window,2,10,brust=3',
    { code: 'RULE_OPTION', given: /brust/, problem: /unknown option "brust"/, meant: 'burst' },
  ],
  [
    'an option twice',
    'fixed-window,2,10,by=user,by=ip',
    { code: 'RULE_OPTION', given: /by=ip/, problem: /twice/ },
  ],
  [
    'burst on a window',
    'fixed-window,2,10,burst=3',
    { code: 'RULE_OPTION', given: /burst=3/, problem: /token-bucket only/ },
  ],
  [
    'a name in capitals',
    'fixed-window,2,10,name=All',
    { code: 'RULE_OPTION', given: /name=All/, problem: /a-z, 0-9/ },
  ],
  [
    'numbers that cannot be exact',
    'token-bucket,9007199254740991,365d',
    {
      code: 'RULE_INEXACT',
      given: /9007199254740991/,
      problem: /nearest that can: \S+/,
    },
  ],
  [
    'a log that is too large',
    'sliding-window,1001,1h',
    { code: 'RULE_LOG_TOO_LARGE', given: /1001/, problem: /sliding-window-counter.*maxLogLimit/ },
  ],
  [
    'by=tenant',
    'fixed-window,2,10,by=tenant',
    { code: 'RULE_DIMENSION', given: /by=tenant/, problem: /unknown dimension "tenant"/ },
  ],
  [
    'a dimension that is nearly one',
    'fixed-window,2,10,by=usr',
    { code: 'RULE_DIMENSION', given: /by=usr/, problem: /unknown dimension/, meant: 'user' },
  ],
  [
    'an unknown policy',
    'serach',
    { code: 'POLICY_UNKNOWN', given: /serach/, problem: /no policy has that name/ },
  ],
  [
    'an object without a limit',
    { window: '1m' },
    { code: 'RULE_SYNTAX', given: /1m/, problem: /limit is missing/ },
  ],
  [
    'an object with two windows',
    { limit: 1, window: '1m', windowMillis: 5 },
    { code: 'RULE_SYNTAX', given: /windowMillis/, problem: /two spellings/ },
  ],
  [
    'an object with an unknown field',
    { limit: 1, window: '1m', limt: 2 },
    { code: 'RULE_SYNTAX', given: /limt/, problem: /unknown field "limt"/, meant: 'limit' },
  ],
  [
    'an object with a limit of 0',
    { limit: 0, window: '1m' },
    { code: 'RULE_LIMIT', given: /"limit":0/, problem: /got 0/ },
  ],
  [
    'an object with a limit that is no number',
    { limit: Number.NaN, window: 1 },
    { code: 'RULE_LIMIT', given: /limit/, problem: /NaN/ },
  ],
  ['a number', 5, { code: 'RULE_SYNTAX', given: /5/, problem: /./ }],
  ['null', null, { code: 'RULE_SYNTAX', given: /null/, problem: /./ }],
];

function expectFault(faults: readonly Fault[], { meant, ...rest }: Expected): void {
  expect(faults).toHaveLength(1);
  const fault = { ...faults[0]! };
  expect(fault).toEqual(
    expect.objectContaining({
      code: rest.code,
      place: expect.stringMatching(rest.place),
      given: expect.stringMatching(rest.given),
      problem: expect.stringMatching(rest.problem),
    }),
  );
  if (meant !== undefined) expect(fault.meant).toBe(meant);
}

describe('faults of a rule are found at the start', () => {
  it.each(RULE_FAULTS)('in the book: %s', async (_, rule, expected) => {
    expectFault(await faultsOf(book(rule)), { ...expected, place: /api.*\/plain/ });
  });

  it.each(RULE_FAULTS)('in a decorator: %s', async (_, rule, expected) => {
    expectFault(await faultsOf(decorated(rule)), { ...expected, place: /Limited\.get/ });
  });

  it.each(RULE_FAULTS.filter(([, rule]) => typeof rule === 'string'))(
    'in properties text: %s',
    async (_, rule, expected) => {
      const rules = `default = fixed-window,9,10\napi./plain = ${rule}`;
      const faults = await faultsOf(option({ rules }));
      expectFault(faults, { ...expected, place: /api.*\/plain|line 2/ });
    },
  );

  it.each(RULE_FAULTS.filter(([, rule]) => typeof rule === 'string'))(
    'in a book that stands in for the module’s: %s',
    async (_, rule, { code }) => {
      if (
        code !== 'RULE_NOT_AVAILABLE' &&
        code !== 'RULE_DIMENSION' &&
        code !== 'RULE_LOG_TOO_LARGE'
      ) {
        expect(() => RuleBook.of({ default: rule as string })).toThrow(RateLimitConfigError);
        return;
      }
      const other = RuleBook.of({ default: rule as string });
      const faults = await faultsOf({
        controllers,
        limits: {},
        override: (builder) => builder.overrideProvider(RuleBook).useValue(other),
      });
      expect(faults.map((fault) => fault.code)).toEqual([code]);
    },
  );

  it('takes a log as large as maxLogLimit says, and no larger', async () => {
    const limits = { rules: { default: 'sliding-window,2000,1h' }, maxLogLimit: 2000 };
    const app = await start('express', { controllers, limits });
    expect(left(await app.http.get('/plain'))).toBe(1999);
    const smaller = { rules: { default: 'sliding-window,11,1h' }, maxLogLimit: 10 };
    const [fault] = await faultsOf(option(smaller));
    expect(fault).toMatchObject({ code: 'RULE_LOG_TOO_LARGE' });
    expect(fault!.problem).toContain('10');
  });
});

type FaultyCase = [string, AppParts, Expected];

class NobodysResolver extends TierResolver {
  tierOf() {
    return 'pro';
  }
}

const FAULTS: FaultyCase[] = [
  [
    'an unknown option',
    option({ rulez: TWO }),
    {
      code: 'OPTION_UNKNOWN',
      place: /RateLimitModule/,
      given: /^rulez$/,
      problem: /no such option/,
      meant: 'rules',
    },
  ],
  [
    'rules that are no book',
    option({ rules: 5 }),
    { code: 'OPTION_VALUE', place: /rules/, given: /^5$/, problem: /rule book/ },
  ],
  [
    'a user that is no function',
    option({ user: 'id' }),
    { code: 'OPTION_VALUE', place: /user/, given: /^id$/, problem: /function/ },
  ],
  [
    'a skip that is no function',
    option({ skip: true }),
    { code: 'OPTION_VALUE', place: /skip/, given: /^true$/, problem: /function/ },
  ],
  [
    'an address that is no function',
    option({ address: '::1' }),
    { code: 'OPTION_VALUE', place: /address/, given: /::1/, problem: /function/ },
  ],
  [
    'a store that is none',
    option({ store: {} }),
    { code: 'OPTION_VALUE', place: /store/, given: /\{\}/, problem: /RateLimitStore/ },
  ],
  [
    'an unknown dialect',
    option({ headers: 'ieft' }),
    { code: 'OPTION_VALUE', place: /headers/, given: /ieft/, problem: /ietf, .*legacy/ },
  ],
  [
    'a dialect of no version',
    option({ headers: ['ietf', 'draft-9'] }),
    { code: 'OPTION_VALUE', place: /headers/, given: /draft-9/, problem: /ietf, draft-8/ },
  ],
  [
    'two dialects that write one header',
    option({ headers: ['legacy', 'ietf', 'draft-8'] }),
    {
      code: 'OPTION_VALUE',
      place: /headers/,
      given: /^legacy, ietf, draft-8$/,
      problem: /ietf and draft-8 .* RateLimit,/,
    },
  ],
  [
    'headers: true',
    option({ headers: true }),
    { code: 'OPTION_VALUE', place: /headers/, given: /true/, problem: /ietf/ },
  ],
  [
    'headers to expose by name',
    option({ exposeHeaders: ['RateLimit'] }),
    { code: 'OPTION_VALUE', place: /exposeHeaders/, given: /RateLimit/, problem: /true or false/ },
  ],
  [
    'an unknown kind of body',
    option({ refusal: 'xml' }),
    { code: 'OPTION_VALUE', place: /refusal/, given: /xml/, problem: /json, problem, or a fun/ },
  ],
  [
    'a body that is no function',
    option({ refusal: { error: 'slow down' } }),
    { code: 'OPTION_VALUE', place: /refusal/, given: /slow down/, problem: /a function of/ },
  ],
  [
    'a prefix of 0 bits',
    option({ ipv6Prefix: 0 }),
    { code: 'OPTION_VALUE', place: /ipv6Prefix/, given: /^0$/, problem: /1 to 128/ },
  ],
  [
    'a prefix as text',
    option({ ipv6Prefix: '64' }),
    { code: 'OPTION_VALUE', place: /ipv6Prefix/, given: /64/, problem: /whole number/ },
  ],
  [
    'a log limit of 0',
    option({ maxLogLimit: 0 }),
    { code: 'OPTION_VALUE', place: /maxLogLimit/, given: /^0$/, problem: /whole number/ },
  ],
  [
    'a maxWaiters below 0',
    option({ maxWaiters: -1 }),
    { code: 'OPTION_VALUE', place: /maxWaiters/, given: /^-1$/, problem: /whole number/ },
  ],
  [
    'another order',
    option({ order: 'last' }),
    { code: 'OPTION_VALUE', place: /order/, given: /last/, problem: /first or registered/ },
  ],
  [
    'an option of nobody',
    option({ inspector: {} }),
    {
      code: 'OPTION_UNKNOWN',
      place: /RateLimitModule/,
      given: /inspector/,
      problem: /no such option/,
    },
  ],
  [
    'a file that is not there',
    option({ rulesFile: '/nowhere/rules' }),
    { code: 'BOOK_FILE', place: /rulesFile/, given: /nowhere/, problem: /cannot be read/ },
  ],
  [
    'an unknown section',
    option({ rules: { apis: {} } }),
    { code: 'BOOK_KEY', place: /rules/, given: /apis/, problem: /api/, meant: 'api' },
  ],
  [
    'a section that is no object',
    option({ rules: { api: 'fixed-window,2,10' } }),
    { code: 'BOOK_VALUE', place: /api/, given: /fixed-window/, problem: /object/ },
  ],
  [
    'another stage',
    option({ stage: 'interceptor' }),
    { code: 'OPTION_VALUE', place: /stage/, given: /interceptor/, problem: /auto or guard/ },
  ],
  [
    'a secret dimension that another store would share, without a key',
    option({
      store: new SlowStore(new MemoryStore()),
      dimensions: { key: { value: () => 'k', secret: true } },
    }),
    { code: 'OPTION_VALUE', place: /secretKey/, given: /nothing/, problem: /every instance/ },
  ],
  [
    'a short key for secrets',
    option({ secretKey: 'short' }),
    { code: 'OPTION_VALUE', place: /secretKey/, given: /short/, problem: /16 characters/ },
  ],
  [
    'a tier resolver that nobody provides',
    option({ tierOf: NobodysResolver }),
    { code: 'OPTION_VALUE', place: /tierOf/, given: /NobodysResolver/, problem: /no module/ },
  ],
  [
    'a tier resolver that is none',
    option({ tierOf: 'plans' }),
    { code: 'OPTION_VALUE', place: /tierOf/, given: /plans/, problem: /TierResolver/ },
  ],
  [
    'a part of a limit above 1',
    option({ warnAt: 80 }),
    { code: 'OPTION_VALUE', place: /warnAt/, given: /80/, problem: /up to 1/ },
  ],
  [
    'a part of a limit that is none',
    option({ warnAt: 0 }),
    { code: 'OPTION_VALUE', place: /warnAt/, given: /0/, problem: /above 0/ },
  ],
  ...[0, 99, -1, 1.5, Number.NaN, 2 ** 31 + 1, '5s'].map(
    (pollMillis): FaultyCase => [
      `a poll of ${pollMillis}`,
      option({ rulesFile: { path: __filename, pollMillis } }),
      { code: 'OPTION_VALUE', place: /rulesFile/, given: /pollMillis/, problem: /100 ms or more/ },
    ],
  ),
  ...[0, -1, 1.5, Number.NaN, 2 ** 31 + 1, '5s'].map(
    (tierTimeoutMillis): FaultyCase => [
      `a time-out of tiers of ${tierTimeoutMillis}`,
      option({ tierTimeoutMillis }),
      {
        code: 'OPTION_VALUE',
        place: /tierTimeoutMillis/,
        given: /./,
        problem: /whole milliseconds/,
      },
    ],
  ),
  ...[-1, 1.5, Number.POSITIVE_INFINITY, '30s'].map(
    (tierCacheMillis): FaultyCase => [
      `a cache of tiers of ${tierCacheMillis}`,
      option({ tierCacheMillis }),
      { code: 'OPTION_VALUE', place: /tierCacheMillis/, given: /./, problem: /whole milliseconds/ },
    ],
  ),
  [
    'a book in an unknown mode',
    option({ rules: { ...TWO, mode: 'of' } }),
    { code: 'BOOK_VALUE', place: /mode/, given: /of/, problem: /enforce/, meant: 'off' },
  ],
  [
    'a line without a rule',
    option({ rules: 'default fixed-window,2,10' }),
    { code: 'BOOK_KEY', place: /line 1/, given: /default/, problem: /key = rule/ },
  ],
  [
    'a line with an unknown key',
    option({ rules: '\ndefalt = fixed-window,2,10' }),
    { code: 'BOOK_KEY', place: /line 2/, given: /defalt/, problem: /default/, meant: 'default' },
  ],
  [
    'a line twice',
    option({ rules: 'default = fixed-window,2,10\ndefault = fixed-window,3,10' }),
    { code: 'BOOK_KEY', place: /default/, given: /fixed-window,3,10/, problem: /twice/ },
  ],
  [
    'a name for different rules',
    option({
      rules: { default: 'fixed-window,2,10,name=a', api: { '/plain': 'fixed-window,3,10,name=a' } },
    }),
    { code: 'NAME_CONFLICT', place: /./, given: /name=a/, problem: /"a"/ },
  ],
  [
    'a name twice in one policy',
    option({ rules: { default: 'fixed-window,2,10,name=a & fixed-window,2,10,name=a' } }),
    { code: 'NAME_CONFLICT', place: /default/, given: /name=a/, problem: /twice/ },
  ],
  [
    '@RateLimit without a rule',
    decorated(),
    { code: 'RULE_SYNTAX', place: /Limited\.get/, given: /@RateLimit/, problem: /no rule/ },
  ],
  [
    'a policy that is nearly one',
    decorated('serach'),
    {
      code: 'POLICY_UNKNOWN',
      place: /Limited\.get/,
      given: /serach/,
      problem: /search/,
      meant: 'search',
    },
  ],
];

describe('faults of options, book and decorators are found at the start', () => {
  it.each(FAULTS)('%s', async (_, parts, expected) => {
    expectFault(await faultsOf(parts), expected);
  });

  it.each([undefined, null, 5, 'text'])('options that are %s', async (options) => {
    const useFactory = () => options as never;
    const parts = { controllers, imports: [RateLimitModule.forRootAsync({ useFactory })] };
    const faults = await faultsOf(parts);
    expect(faults).toEqual([expect.objectContaining({ code: 'OPTION_VALUE' })]);
  });

  it('guard among the options of a factory, with the place where it belongs', async () => {
    const useFactory = () => ({ guard: false }) as never;
    const parts = { controllers, imports: [RateLimitModule.forRootAsync({ useFactory })] };
    expectFault(await faultsOf(parts), {
      code: 'OPTION_UNKNOWN',
      place: /RateLimitModule/,
      given: /^guard$/,
      problem: /beside useFactory/,
    });
  });

  it('a module that is imported twice', async () => {
    const imports = [RateLimitModule.forRoot({ rules: TWO }), RateLimitModule.forRoot()];
    const faults = await faultsOf({ controllers, imports });
    expect(faults).toEqual([
      expect.objectContaining({ code: 'MODULE_TWICE', problem: expect.stringMatching(/once/) }),
    ]);
  });

  it('a module that is imported again further down', async () => {
    @Module({ imports: [RateLimitModule.forRootAsync({ useFactory: () => ({}) })] })
    class Feature {}
    const faults = await faultsOf({ controllers, limits: {}, imports: [Feature] });
    expect(faults.map(({ code }) => code)).toEqual(['MODULE_TWICE']);
  });

  it('all at the same time, in one error', async () => {
    @Injectable()
    class Provider {
      @RateLimit('fixed-window,2,10')
      method() {}
    }
    @Controller('faulty')
    class Faulty {
      @RateLimit('fixd-window,2,10' as string)
      @Get('a')
      a() {}

      @RateLimit('nobody')
      @Get('b')
      b() {}
    }
    const limits = {
      rulez: 1,
      ipv6Prefix: 200,
      rulesFile: '/nowhere/rules',
      rules: {
        default: 'token-bucket,0,10',
        api: { '/plain': 'fixed-window,2,-1', '/else': 'fixed-window,2,10,burst=3' },
        user: { vip: { defalt: 'fixed-window,2,10' } },
      },
      always: 'fixed-window,2,10,by=tenant',
    };
    const faults = await faultsOf({
      controllers: [Plain, Faulty],
      providers: [Provider],
      limits,
    });
    expect(faults.map(({ code }) => code).sort()).toEqual(
      [
        'OPTION_UNKNOWN',
        'OPTION_VALUE',
        'BOOK_FILE',
        'RULE_LIMIT',
        'RULE_WINDOW',
        'RULE_OPTION',
        'BOOK_KEY',
        'RULE_DIMENSION',
        'RULE_ALGORITHM',
        'POLICY_UNKNOWN',
        'DECORATOR_NO_EFFECT',
      ].sort(),
    );
  });

  it('and told in one message, one line each, with what was meant', async () => {
    const error = await start('express', {
      controllers: [limited('fixd-window,2,10')],
      limits: { rulez: 1, rules: { default: 'token-bucket,0,10' } },
    }).catch((reason: unknown) => reason as RateLimitConfigError);
    expect(error).toBeInstanceOf(RateLimitConfigError);
    const { name, message, code, faults } = error as RateLimitConfigError;
    expect(name).toBe('RateLimitConfigError');
    expect(code).toBe(faults[0]!.code);
    expect(faults).toHaveLength(3);
    expect(message).toMatch(/3 faults/);
    expect(message).toContain('Invalid "token-bucket,0,10" for default: limit must be');
    expect(message).toContain('did you mean "rules"?');
    expect(message).toContain('did you mean "fixed-window"?');
    expect(message.split('\n')).toHaveLength(4);
  });

  it('once each, however many handlers a faulty class has', async () => {
    @RateLimit('nobody')
    @Controller('many')
    class Many {
      @Get('a')
      a() {}

      @Get('b')
      b() {}

      @Post('c')
      c() {}
    }
    const faults = await faultsOf({ controllers: [Many], limits: {} });
    expect(faults.map(({ code, place }) => `${code} ${place}`)).toEqual([
      'POLICY_UNKNOWN @RateLimit on Many',
    ]);
  });

  it('also of a class whose handlers all have rules of their own', async () => {
    @RateLimit('fixed-window,0,10' as string)
    @Controller('hidden')
    class Hidden {
      @RateLimit('fixed-window,2,10')
      @Get()
      get() {}
    }
    const faults = await faultsOf({ controllers: [Hidden], limits: {} });
    expect(faults.map(({ code }) => code)).toEqual(['RULE_LIMIT']);
  });
});

describe('decorators that cannot do what they say are found at the start', () => {
  const codes = async (parts: AppParts) => {
    const faults = await faultsOf({ limits: {}, ...parts });
    return faults.map(({ code, place }) => `${code} ${place}`);
  };

  it('on the method of a provider', async () => {
    @Injectable()
    class Mailer {
      @RateLimit('fixed-window,2,10')
      send() {}

      @SkipRateLimit()
      receive() {}
    }
    expect(await codes({ providers: [Mailer] })).toEqual([
      'DECORATOR_NO_EFFECT Mailer.send',
      'DECORATOR_NO_EFFECT Mailer.receive',
    ]);
  });

  it('on a provider itself', async () => {
    @RateLimit('fixed-window,2,10')
    @Injectable()
    class Mailer {
      send() {}
    }
    expect(await codes({ providers: [Mailer] })).toEqual(['DECORATOR_NO_EFFECT Mailer']);
  });

  it('on a method that a provider inherits', async () => {
    class Base {
      @RateLimit('fixed-window,2,10')
      send() {}
    }
    @Injectable()
    class Mailer extends Base {}
    expect(await codes({ providers: [Mailer] })).toEqual(['DECORATOR_NO_EFFECT Mailer.send']);
  });

  it('on a method of a controller that is no route', async () => {
    @Controller('orders')
    class Orders {
      @Get()
      list() {
        return this.inner();
      }

      @RateLimit('fixed-window,2,10')
      inner() {
        return [];
      }
    }
    expect(await codes({ controllers: [Orders] })).toEqual(['DECORATOR_NO_EFFECT Orders.inner']);
  });

  it('on a method that a subclass overrides without it', async () => {
    class Base {
      @RateLimit('fixed-window,2,10')
      @Get()
      list(): string[] {
        return [];
      }
    }
    @Controller('orders')
    class Orders extends Base {
      @Get()
      override list() {
        return ['all'];
      }
    }
    expect(await codes({ controllers: [Orders] })).toEqual(['DECORATOR_LOST Orders.list']);
  });

  it.each([RateLimit('fixed-window,9,10'), SkipRateLimit()])(
    'but not where the override says what it wants: %#',
    async (decorator) => {
      class Base {
        @RateLimit('fixed-window,2,10')
        @Get()
        list(): string[] {
          return [];
        }
      }
      @Controller('orders')
      class Orders extends Base {
        @decorator
        @Get()
        override list() {
          return ['all'];
        }
      }
      const app = await start('express', { controllers: [Orders], limits: {} });
      expect(await statuses(app, 3, '/orders')).toEqual([200, 200, 200]);
    },
  );

  it('on a function that another decorator hides', async () => {
    const traced: MethodDecorator = (_target, _key, descriptor: PropertyDescriptor) => {
      const method = descriptor.value;
      descriptor.value = function (...args: unknown[]) {
        return method.apply(this, args);
      };
    };
    @Controller('orders')
    class Orders {
      @Get()
      @traced
      @RateLimit('fixed-window,2,10')
      list() {
        return [];
      }
    }
    expect(await codes({ controllers: [Orders] })).toEqual(['DECORATOR_NO_EFFECT Orders.list']);
  });

  it('where @RateLimit and @SkipRateLimit stand on one handler', async () => {
    @Controller('both')
    class Both {
      @RateLimit('fixed-window,2,10')
      @SkipRateLimit()
      @Get()
      get() {}
    }
    expect(await codes({ controllers: [Both] })).toEqual(['DECORATOR_CONFLICT Both.get']);
  });

  it('where @RateLimit and @SkipRateLimit stand on one class', async () => {
    @SkipRateLimit()
    @RateLimit('fixed-window,2,10')
    @Controller('both')
    class Both {
      @Get('a')
      a() {}

      @Get('b')
      b() {}
    }
    expect(await codes({ controllers: [Both] })).toEqual(['DECORATOR_CONFLICT Both']);
  });

  it('where @RateLimit stands twice', async () => {
    @Controller('twice')
    class Twice {
      @RateLimit('fixed-window,2,10')
      @RateLimit('fixed-window,5,1m')
      @Get()
      get() {}
    }
    expect(await codes({ controllers: [Twice] })).toEqual(['DECORATOR_CONFLICT Twice.get']);
  });

  it.each([
    ['a static method', (target: object) => [target, 'run', { value: () => undefined }]],
    ['a getter', (target: { prototype: object }) => [target.prototype, 'run', { get: () => 1 }]],
    ['a property', (target: { prototype: object }) => [target.prototype, 'run', undefined]],
  ] as const)('at once, on %s', (_, at) => {
    class Any {}
    const [target, key, descriptor] = at(Any) as unknown as [object, string, PropertyDescriptor];
    expect(() => RateLimit('fixed-window,2,10')(target, key, descriptor)).toThrow(TypeError);
    expect(() => SkipRateLimit()(target, key, descriptor)).toThrow(TypeError);
  });

  function sameName(rule: string): Type {
    @Controller(`orders-${rule.length}-${Math.abs(hash(rule))}`)
    class Orders {
      @RateLimit(rule)
      @Get()
      get() {
        return {};
      }
    }
    @Module({ controllers: [Orders] })
    class OrdersModule {}
    return OrdersModule;
  }
  const hash = (text: string) => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) | 0, 0);

  it('where two handlers would count at one place', async () => {
    const imports = [sameName('fixed-window,2,10'), sameName('fixed-window,3,10')];
    const faults = await faultsOf({ limits: {}, imports });
    expect(faults).toEqual([
      expect.objectContaining({
        code: 'PLACE_CONFLICT',
        place: expect.stringContaining('OrdersModule/Orders.get'),
        problem: expect.stringContaining('name'),
      }),
    ]);
  });

  it('but not where a name tells them apart, as the fault asks for', async () => {
    const imports = [
      sameName('fixed-window,2,10,name=first'),
      sameName('fixed-window,3,10,name=second'),
    ];
    const app = await start('express', { limits: {}, imports });
    expect(app.logs.warnings()).toEqual([]);
  });

  it('but not where both use policies of the book', async () => {
    const rules = { policy: { one: 'fixed-window,2,10', three: 'fixed-window,3,10' } };
    const app = await start('express', {
      limits: { rules },
      imports: [sameName('one'), sameName('three')],
    });
    expect(app.logs.warnings()).toEqual([]);
  });
});

describe('a start that fails', () => {
  it('serves nothing and leaves nothing behind', async () => {
    const module = await Test.createTestingModule({
      imports: [RateLimitModule.forRoot({ rules: { default: 'fixed-window,0,10' as string } })],
      controllers,
    })
      .setLogger(new LogBook())
      .compile();
    const app = module.createNestApplication();
    await expect(app.init()).rejects.toBeInstanceOf(RateLimitConfigError);
    await app.close();
    const next = await start('express', { controllers, limits: byHeader(TWO) });
    expect(await statuses(next, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
  });
});
