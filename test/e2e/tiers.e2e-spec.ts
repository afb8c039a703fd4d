import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Scope,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import {
  MemoryStore,
  RateLimit,
  type RateLimitEvent,
  SkipRateLimit,
  type TierAnswer,
  TierResolver,
} from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { ADAPTERS, byHeader, faultsOf, type Running, start, statuses } from './support.js';

class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const id = request.headers['x-later'];
    if (!id) throw new UnauthorizedException();
    request.user = { id };
    return true;
  }
}

@Controller()
class Shop {
  @Get('orders')
  orders() {
    return [];
  }

  @Get('login')
  login() {
    return {};
  }

  @RateLimit('fixed-window,4,10')
  @Get('decorated')
  decorated() {
    return {};
  }

  @SkipRateLimit()
  @Get('skipped')
  skipped() {
    return {};
  }

  @RateLimit('fixed-window,8,10,name=noted')
  @Get('noted')
  noted() {
    return {};
  }

  @UseGuards(SignIn)
  @Get('later')
  later() {
    return {};
  }
}

const controllers = [Shop];
const as = (user: string) => ({ 'x-user': user });
const BOOK = {
  default: 'fixed-window,2,10',
  tier: { pro: { default: 'fixed-window,5,10', api: { '/login': 'fixed-window,1,10' } } },
  user: { 'vip-1': 'fixed-window,7,10' },
};
const count = (seen: readonly number[]) => seen.filter((status) => status === 200).length;
const hanging = () => new Promise<TierAnswer>(() => undefined);

describe.each(ADAPTERS)('tiers on %s', (adapter) => {
  /** The limit that a user meets: how many of nine requests are let in. */
  const limitOf = async (tierOf: unknown, user = 'alice', path = '/orders', more = {}) => {
    const running = await start(adapter, {
      limits: byHeader(BOOK, { tierOf, ...more } as object),
      controllers,
    });
    return { ...running, admitted: count(await statuses(running, 9, path, as(user))) };
  };

  it.each<[string, TierAnswer, string, number]>([
    ['a name in the book', 'pro', '/orders', 5],
    ['a name, and its rule for one api', 'pro', '/login', 1],
    ['rule text', 'fixed-window,3,10', '/orders', 3],
    ['an object', { algorithm: 'fixed-window', limit: 3, window: 10 }, '/orders', 3],
    [
      'a small book',
      { default: 'fixed-window,6,10', api: { '/login': 'fixed-window,1,10' } },
      '/login',
      1,
    ],
    ['nothing', undefined, '/orders', 2],
    ['null', null, '/orders', 2],
    ['a tier nobody defined', 'prp', '/orders', 2],
    ['rules, where the handler has its own', 'fixed-window,3,10', '/decorated', 4],
    ['final rules, where the handler has its own', 'fixed-window,3,10,final=true', '/decorated', 3],
    ['final rules, where the handler is skipped', 'fixed-window,3,10,final=true', '/skipped', 3],
  ])('may be %s', async (_, answer, path, expected) => {
    expect((await limitOf(() => answer, 'alice', path)).admitted).toBe(expected);
    expect((await limitOf(async () => answer, 'alice', path)).admitted).toBe(expected);
  });

  it('come after the rule of the user', async () => {
    expect((await limitOf(() => 'pro', 'vip-1')).admitted).toBe(7);
  });

  it.each<[string, (id: string) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no database');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no database'))],
    ['rejects with what has no text', () => Promise.reject(Object.create(null))],
    [
      'throws what has no text',
      () => {
        throw Object.create(null);
      },
    ],
    ['answers a number', () => 5],
    ['answers faulty rules', () => 'fixed-window,0,10'],
    ['answers a dimension nobody has', () => 'fixed-window,9,10,by=tenant'],
  ])('leave a user to the rest of the book where the resolver %s', async (_, tierOf) => {
    const { admitted, logs } = await limitOf(tierOf);
    expect(admitted).toBe(2);
    expect(logs.warnings('tierOf failed')).toHaveLength(1);
  });

  it('let no request wait longer than the time-out for a resolver that hangs', async () => {
    const running = await start(adapter, {
      limits: byHeader(BOOK, { tierOf: hanging, tierTimeoutMillis: 50 }),
      controllers,
    });
    const tick = setInterval(() => running.clock.advance(10), 1);
    expect((await running.http.get('/orders').set(as('alice'))).status).toBe(200);
    clearInterval(tick);
    expect(running.logs.warnings('tierOf failed')).toHaveLength(1);
  });

  it('warn once of a tier that nobody defined, and say which was probably meant', async () => {
    const { logs } = await limitOf(() => 'prp');
    expect(logs.warnings('"prp"', 'did you mean "pro"')).toHaveLength(1);
  });

  it('are kept while the resolver fails, and told once as failed', async () => {
    let failing = false;
    const events: RateLimitEvent[] = [];
    const tierOf = () => {
      if (failing) throw new Error('no database');
      return 'pro';
    };
    const running = await start(adapter, { limits: byHeader(BOOK, { tierOf }), controllers });
    running.service.events$.subscribe((event) => events.push(event));
    await statuses(running, 1, '/orders', as('alice'));
    failing = true;
    running.clock.advance(30_000);
    expect(count(await statuses(running, 9, '/orders', as('alice')))).toBe(5);
    expect(events.map(({ type }) => type)).toEqual(['tier-failed']);
    failing = false;
    running.clock.advance(30_000);
    await statuses(running, 1, '/orders', as('alice'));
    expect(events.map(({ type }) => type)).toEqual(['tier-failed', 'tier-recovered']);
  });

  it('are asked for once per user and 30 s by a thousand requests at once', async () => {
    const asked: string[] = [];
    const tierOf = async (userId: string) => {
      asked.push(userId);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return 'fixed-window,10000,10';
    };
    const running = await start(adapter, { limits: byHeader(BOOK, { tierOf }), controllers });
    const thousand = async () => {
      const url = await running.app.getUrl();
      const send = () => fetch(`${url}/orders`, { headers: as('alice') });
      const answers = await Promise.all(Array.from({ length: 1000 }, send));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      await Promise.all(answers.map((answer) => answer.text()));
    };
    await thousand();
    expect(asked).toEqual(['alice']);
    running.clock.advance(29_999);
    await thousand();
    expect(asked).toEqual(['alice']);
    running.clock.advance(1);
    await thousand();
    expect(asked).toEqual(['alice', 'alice']);
    running.service.invalidateTier('alice');
    await statuses(running, 1, '/orders', as('alice'));
    expect(asked).toHaveLength(3);
  }, 60_000);

  it.each([
    ['/orders', { 'x-user': 'alice' }],
    ['/decorated', { 'x-user': 'alice' }],
    ['/later', { 'x-later': 'alice' }],
  ])('are asked for once a request of %s where none is remembered', async (path, headers) => {
    const asked: string[] = [];
    const tierOf = (userId: string) => {
      asked.push(userId);
      return 'pro';
    };
    const user = (req: { headers: Record<string, string>; user?: { id: string } }) =>
      req.user?.id ?? req.headers['x-user'];
    const limits = { rules: BOOK, user, tierOf, tierCacheMillis: 0 };
    const running = await start(adapter, { limits, controllers });
    await statuses(running, 2, path, headers as Record<string, string>);
    expect(asked).toEqual(['alice', 'alice']);
  });

  it('come from a provider with others injected, and of nobody for whoever is nobody', async () => {
    const asked: unknown[] = [];
    @Injectable()
    class Table {
      readonly plans = new Map([['alice', 'pro']]);
    }
    @Injectable()
    class Plans extends TierResolver {
      constructor(private readonly table: Table) {
        super();
      }

      tierOf(userId: string, ctx: ExecutionContext | undefined) {
        asked.push(ctx?.getHandler().name);
        return this.table.plans.get(userId);
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Table], Plans);
    @Module({ providers: [Table, Plans] })
    class PlansModule {}
    const running = await start(adapter, {
      imports: [PlansModule],
      limits: byHeader(BOOK, { tierOf: Plans, tierCacheMillis: 0 }),
      controllers,
    });
    expect(count(await statuses(running, 9, '/orders', as('alice')))).toBe(5);
    expect(count(await statuses(running, 9, '/orders'))).toBe(2);
    expect((await running.service.peek('alice', '/orders')).limit).toBe(5);
    expect(asked).toEqual([...Array(9).fill('orders'), undefined]);
  });

  it('make checkSync throw where they are promised, and decide where they are not', async () => {
    const promised = await limitOf(async () => 'pro', 'bob');
    expect(() => promised.service.checkSync('alice', '/orders')).toThrow(TypeError);
    const known = await limitOf(() => 'pro', 'bob');
    expect(known.service.checkSync('alice', '/orders').limit).toBe(5);
  });

  it('have checkSync take nothing where they are promised, so that nobody pays twice', async () => {
    const { service } = await limitOf(async () => 'pro', 'bob');
    expect(() => service.checkSync('alice', '/orders')).toThrow(/tierOf/);
    expect((await service.check('alice', '/orders')).remaining).toBe(4);
    expect(service.checkSync('alice', '/orders').remaining).toBe(3);
  });
});

describe('a tier', () => {
  const open = (tierOf: unknown, more = {}, rules: object = BOOK) =>
    start('express', { limits: byHeader(rules, { tierOf, ...more } as object), controllers });

  it('is asked for by the one spelling of an id, and invalidated by any', async () => {
    const asked: string[] = [];
    const tierOf = (userId: string) => (asked.push(userId) > 1 ? 'fixed-window,9,10' : 'pro');
    const { service } = await open(tierOf, { normalizeId: (id: string) => id.toLowerCase() });
    const limit = async (user: string) => (await service.check(user, '/orders')).limit;
    expect([await limit('Alice'), await limit('ALICE')]).toEqual([5, 5]);
    service.invalidateTier('aLICE');
    expect(await limit('alice')).toBe(9);
    expect(asked).toEqual(['alice', 'alice']);
  });

  it('is not asked for where rules are handed in, or the module is off', async () => {
    const tierOf = jest.fn(() => 'pro');
    const { service } = await open(tierOf);
    const policy = 'fixed-window,9,10';
    await service.check('alice', '/orders', { policy });
    await service.peek('alice', '/orders', { policy });
    await statuses(await open(tierOf, { mode: 'off' }), 1, '/orders', as('alice'));
    expect(tierOf).not.toHaveBeenCalled();
  });

  it('is explained with its age', async () => {
    const tierOf = (id: string) => ({ alice: 'pro', bob: 'fixed-window,5,10' })[id];
    const { service, clock } = await open(tierOf);
    for (const user of ['alice', 'bob', 'carol']) await service.check(user, '/orders');
    clock.advance(4000);
    const told = async (user: string) => (await service.explain(user, '/orders')).tier;
    expect(await told('alice')).toEqual({ name: 'pro', ageMillis: 4000 });
    expect(await told('bob')).toEqual({ name: 'fixed-window,5,10s', ageMillis: 4000 });
    expect(await told('carol')).toBeUndefined();
  });

  it('is looked for in the book that is in force', async () => {
    const { service } = await open(() => 'gold');
    const limit = async () => (await service.peek('alice', '/orders')).limit;
    expect(await limit()).toBe(2);
    service.reload({ ...BOOK, tier: { gold: 'fixed-window,9,10' } });
    expect(await limit()).toBe(9);
    service.reload(BOOK);
    expect(await limit()).toBe(2);
  });

  it('is joined by what always joins, named or answered as rules', async () => {
    const always = 'fixed-window,3,10,by=user';
    for (const answer of ['pro', 'fixed-window,5,10']) {
      const running = await open(() => answer, {}, { ...BOOK, always });
      expect(count(await statuses(running, 9, '/orders', as('alice')))).toBe(3);
    }
  });

  it('goes on counting where only the limit of answered rules changed', async () => {
    let limit = 5;
    const { service } = await open(() => `fixed-window,${limit},10`);
    const remaining = async () => (await service.check('alice', '/orders')).remaining;
    expect([await remaining(), await remaining()]).toEqual([4, 3]);
    limit = 9;
    service.invalidateTier('alice');
    expect(await remaining()).toBe(6);
  });

  it.each([0, 30_000])(
    'is told by who asks the service of the same user, kept %i ms',
    async (kept) => {
      let asked = 0;
      const running = await open(
        async (userId: string) => {
          asked++;
          return (await running.service.check(userId, 'look-ups')).allowed ? 'pro' : undefined;
        },
        { tierCacheMillis: kept },
      );
      expect((await running.service.check('alice', '/orders')).limit).toBe(5);
      expect(asked).toBe(1);
    },
  );

  it('keeps no application from stopping while somebody waits for it', async () => {
    const { app, service } = await open(hanging);
    const check = service.check('alice', '/orders');
    await app.close();
    expect(await check).toMatchObject({ limit: 2 });
  });

  it('is the book’s behind the second door too, where the resolver fails', async () => {
    const user = (req: { user?: { id: string } }) => req.user?.id;
    const tierOf = () => Promise.reject(Object.create(null));
    const limits = { rules: BOOK, user, tierOf } as object;
    const running = await start('express', { limits, controllers });
    expect(count(await statuses(running, 9, '/later', { 'x-later': 'alice' }))).toBe(2);
  });
});

describe('the option tierOf', () => {
  class Plans implements TierResolver {
    private readonly plans = new Map([['alice', 'pro']]);

    tierOf(userId: string) {
      return this.plans.get(userId);
    }
  }
  class Blank {}
  const limitsOf = (tierOf: unknown) => byHeader(BOOK, { tierOf } as object);
  const limit = async ({ service, logs }: Running) => {
    expect(logs.ofLimiter('warn')).toEqual([]);
    return (await service.check('alice', '/orders')).limit;
  };

  it('may be the class of a provider that implements TierResolver, and extends nothing', async () => {
    const running = await start('express', { limits: limitsOf(Plans), providers: [Plans] });
    expect(await limit(running)).toBe(5);
  });

  it('may be TierResolver itself, where one is provided in its place', async () => {
    const providers = [{ provide: TierResolver, useClass: Plans }];
    const running = await start('express', { limits: limitsOf(TierResolver), providers });
    expect(await limit(running)).toBe(5);
  });

  it.each([
    ['a resolver', new Plans()],
    ['any object with a method tierOf', { tierOf: () => 'pro' }],
    ['a function', () => 'pro'],
  ])('may be %s', async (_, tierOf) => {
    expect(await limit(await start('express', { limits: limitsOf(tierOf) }))).toBe(5);
  });

  it.each([
    ['nobody provides', Plans, [], 'no module provides it'],
    [
      'lives for one request',
      Plans,
      [{ provide: Plans, useClass: Plans, scope: Scope.REQUEST }],
      '',
    ],
    ['has no method tierOf', Blank, [Blank], 'has no method tierOf'],
    ['is provided as nothing', Plans, [{ provide: Plans, useValue: null }], 'no method tierOf'],
  ])('is a fault at the start as a class that %s', async (_, tierOf, providers, problem) => {
    expect(await faultsOf({ limits: limitsOf(tierOf), providers })).toMatchObject([
      {
        code: 'OPTION_VALUE',
        place: 'option tierOf',
        given: tierOf.name,
        problem: expect.stringContaining(problem),
      },
    ]);
  });

  it.each([5, 'pro', null, {}, { tierOf: 5 }])('is a fault at the start as %j', async (tierOf) => {
    expect(await faultsOf({ limits: limitsOf(tierOf) })).toMatchObject([
      { code: 'OPTION_VALUE', place: 'option tierOf' },
    ]);
  });
});

describe('a name in rules that are answered', () => {
  const FLOOD = 'fixed-window,3,10,name=flood,by=user';
  const open = async (answer: () => TierAnswer, more = {}, rules: object = BOOK) => {
    const limits = byHeader(rules, { tierOf: answer, ...more } as object);
    return start('express', { limits, controllers });
  };
  const limit = async ({ service }: Running, user = 'alice') =>
    (await service.check(user, '/orders')).limit;

  it('is a failure where the book has another rule of that name: never its counter', async () => {
    const wide = 'fixed-window,1000,10,name=flood,by=user';
    const running = await open(() => wide, {}, { ...BOOK, always: FLOOD });
    expect(count(await statuses(running, 9, '/orders', as('alice')))).toBe(2);
    const said = ['tierOf failed', 'for the answer of tierOf: the name "flood" is taken by'];
    expect(running.logs.warnings(...said)).toHaveLength(1);
  });

  it('is a failure where a decorator has another rule of that name', async () => {
    const running = await open(() => ({ api: { '/a': 'fixed-window,9,10,name=noted' } }));
    expect(await limit(running)).toBe(2);
    const place = 'the answer of tierOf, api "/a": the name "noted" is taken by';
    expect(running.logs.warnings('tierOf failed', place)).toHaveLength(1);
  });

  it('shares the counter of the book where the rule is the same', async () => {
    const running = await open(() => FLOOD, {}, { always: FLOOD });
    expect(count(await statuses(running, 9, '/orders', as('alice')))).toBe(3);
    expect(running.logs.ofLimiter('warn')).toEqual([]);
  });

  it.each([0, 30_000])('is looked for in each book that is in force, kept %i ms', async (kept) => {
    const answer = 'fixed-window,5,10,name=own';
    const running = await open(() => answer, { tierCacheMillis: kept });
    const reload = (own: number) =>
      running.service.reload({ ...BOOK, policy: { own: `fixed-window,${own},10,name=own` } });
    expect(await limit(running)).toBe(5);
    reload(6);
    expect(await limit(running)).toBe(2);
    expect(running.logs.warnings('tierOf failed', '"own" is taken')).toHaveLength(1);
    expect((await running.service.explain('alice', '/orders')).tier).toBeUndefined();
    reload(5);
    running.clock.advance(1000);
    expect(await limit(running)).toBe(5);
  });

  it('has what was answered asked for again after a reload in no other case', async () => {
    let asked = 0;
    const running = await open(() => `fixed-window,5,10${asked++ > 0 ? '' : ',name=own'}`);
    expect(await limit(running)).toBe(5);
    running.service.reload({ ...BOOK, policy: { other: 'fixed-window,6,10,name=other' } });
    expect(await limit(running)).toBe(5);
    expect(asked).toBe(1);
  });
});

describe('a tier that nobody defined', () => {
  it('is told in one line of bearable length, twenty of them at most, and with twenty names', async () => {
    const named = Array.from({ length: 30 }, (_, i) => [`tier ${i}\n[Nest] ERROR`, BOOK.default]);
    const { service, logs } = await start('express', {
      limits: byHeader(
        { ...BOOK, tier: Object.fromEntries(named) },
        { tierOf: (userId) => `${userId} ${'x'.repeat(10_000)}\n[Nest] ERROR` },
      ),
    });
    for (let i = 0; i < 30; i++) await service.check(`user ${i}`, '/orders');
    const warnings = logs.warnings('does not define');
    expect(warnings).toHaveLength(20);
    for (const text of warnings) {
      expect(text).toMatch(/^tierOf answers "user \d+ x+\.\.\.", /);
      expect(text).toContain('"tier 19\\n[Nest] ERROR", and 10 more.');
      expect(text).not.toContain('\n');
    }
  });

  it('is told with the names there are, and where there are none', async () => {
    const said = async (rules: object) => {
      const limits = byHeader(rules, { tierOf: () => 'enterprise' });
      const { service, logs } = await start('express', { limits });
      await service.check('alice', '/orders');
      return logs.ofLimiter('warn');
    };
    const none = 'tierOf answers "enterprise", which the rule book does not define; ';
    expect(await said(BOOK)).toEqual([`${none}the tiers are "pro". Such users go without a tier`]);
    expect(await said({ default: BOOK.default })).toEqual([
      `${none}no tier is defined. Such users go without a tier`,
    ]);
  });
});

describe('faults of an answer', () => {
  it('are told where they stand in it', async () => {
    const tierOf = () => ({ api: { '/a': 'fixed-window,9,10,by=tenant' } });
    const running = await start('express', {
      limits: byHeader(BOOK, { tierOf } as object),
      controllers,
    });
    await running.service.check('alice', '/orders');
    expect(running.logs.warnings('tierOf failed', 'the answer of tierOf, api "/a"')).toHaveLength(
      1,
    );
  });
});

describe('tiers of calls of the service', () => {
  const told = async (store: MemoryStore | RedisStore) => {
    const tierOf = (id: string) => (id === 'alice' ? 'pro' : 'fixed-window,3,10');
    const { service } = await start('express', {
      limits: byHeader(BOOK, { tierOf, store }),
      controllers,
    });
    const lines: string[] = [];
    for (const [user, api] of [
      ['alice', '/orders'],
      ['alice', '/login'],
      ['alice', '/login'],
      ['bob', '/orders'],
      ['vip-1', '/orders'],
    ] as const) {
      const { allowed, limit, remaining, policy } = await service.check(user, api);
      lines.push(`${user} ${api} → ${allowed ? 'yes' : 'no'} ${policy} ${remaining} of ${limit}`);
    }
    await service.reset('alice', '/login');
    lines.push(`reset → ${(await service.peek('alice', '/login')).remaining}`);
    lines.push(`acquire → ${(await service.acquire('bob', '/orders')).remaining}`);
    return lines;
  };
  const TRACE = [
    'alice /orders → yes tier:pro 4 of 5',
    'alice /login → yes tier:pro.api./login 0 of 1',
    'alice /login → no tier:pro.api./login 0 of 1',
    'bob /orders → yes tier 2 of 3',
    'vip-1 /orders → yes user:vip-1 6 of 7',
    'reset → 1',
    'acquire → 1',
  ];

  it('decide in memory', async () => {
    expect(await told(new MemoryStore())).toEqual(TRACE);
  });

  describeWithRedis('in Redis', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await RedisServer.start();
    });
    afterAll(() => server.stop());

    it('decide the same', async () => {
      const target = { url: `redis://127.0.0.1:${server.port}` };
      const store = new RedisStore(target, { prefix: 't', time: 'clock', timeoutMillis: 5000 });
      await until('the store is connected', () => store.connected);
      expect(await told(store)).toEqual(TRACE);
    });
  });
});
