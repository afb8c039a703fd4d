import {
  type CallHandler,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  NotFoundException,
  Post,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, ApplicationConfig } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Clock, MemoryStore, RateLimit, RateLimitGuard, RateLimitModule } from 'nestjs-doorman';
import { of } from 'rxjs';
import { turn, WatchedClock } from '../core/waiting.js';
import { until } from '../support/until.js';
import {
  ADAPTERS,
  type AdapterName,
  type AppParts,
  left,
  type Running,
  SlowStore,
  START,
  start,
  statuses,
  valuesOf,
} from './support.js';

const HERE = { dimensions: { ip: '127.0.0.1' } };
const bearer = (id: string) => ({ authorization: `Bearer ${id}` });
const ALICE = bearer('alice');
const BOB = bearer('bob');
const VIP = bearer('vip');
const BAD = bearer('bad');
const TWO = { default: 'fixed-window,2,10' };

const requestOf = (ctx: ExecutionContext) => ctx.switchToHttp().getRequest();

/** `Bearer team.name` is name of team; 401 without one. */
@Injectable()
class JwtGuard implements CanActivate {
  canActivate(ctx: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(ctx);
    const id = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (id === undefined || id === 'bad') throw new UnauthorizedException();
    request.user = { id, tenant: id.split('.')[0] };
    return true;
  }
}

@Controller()
class Bare {
  @Get('things')
  things() {
    return {};
  }

  @Get('others')
  others() {
    return {};
  }
}

@UseGuards(JwtGuard)
@Controller()
class GuardedClass {
  @Get('things')
  things() {
    return {};
  }

  @Get('missing')
  missing() {
    throw new NotFoundException();
  }

  @Get('broken')
  broken() {
    throw new Error('broken');
  }
}

@Controller()
class GuardedMethod {
  @UseGuards(JwtGuard)
  @Get('things')
  things() {
    return {};
  }
}

@Module({ providers: [{ provide: APP_GUARD, useClass: JwtGuard }] })
class AuthModule {}

const limiter = (limits: unknown) => RateLimitModule.forRoot(limits as object);

/** Where an application may put its guard. */
const POSITIONS: Record<string, (limits: unknown) => AppParts> = {
  'on the class': (limits) => ({ imports: [limiter(limits)], controllers: [GuardedClass] }),
  'on the method': (limits) => ({ imports: [limiter(limits)], controllers: [GuardedMethod] }),
  'as APP_GUARD of a module before': (limits) => ({
    imports: [AuthModule, limiter(limits)],
    controllers: [Bare],
  }),
  'as APP_GUARD of a module after': (limits) => ({
    imports: [limiter(limits), AuthModule],
    controllers: [Bare],
  }),
  'by useGlobalGuards': (limits) => ({
    imports: [limiter(limits)],
    controllers: [Bare],
    setUp: (app) => app.useGlobalGuards(new JwtGuard()),
  }),
};

/** The application believes X-Forwarded-For of this machine. */
function behindProxy(adapter: AdapterName, parts: AppParts): AppParts {
  if (adapter === 'fastify') {
    return { ...parts, adapter: new FastifyAdapter({ trustProxy: '127.0.0.1' }) };
  }
  return {
    ...parts,
    setUp: (app) => {
      app.getHttpAdapter().getInstance().set('trust proxy', '127.0.0.1');
      parts.setUp?.(app);
    },
  };
}

const from = (ip: string, headers: Record<string, string> = {}) => ({
  ...headers,
  'x-forwarded-for': ip,
});

/** What is left to the address of this machine. */
async function leftHere({ service }: Running, api = '/things', policy?: string): Promise<number> {
  const decision = await service.peek(undefined, api, HERE);
  if (policy === undefined) return decision.remaining;
  return decision.rules?.find(({ name }) => name === policy)?.remaining ?? Number.NaN;
}

const sequence = (...parts: [number, number][]) =>
  parts.flatMap(([times, status]) => Array<number>(times).fill(status));

const interceptorsOf = ({ app }: Running) =>
  app
    .get(ApplicationConfig)
    .getGlobalInterceptors()
    .map((one) => one.constructor.name);
const guardsOf = ({ app }: Running) =>
  app
    .get(ApplicationConfig)
    .getGlobalGuards()
    .map((one) => one.constructor.name);

describe.each(ADAPTERS)('on %s', (adapter) => {
  describe.each(Object.entries(POSITIONS))('a guard %s', (_, position) => {
    const rules = {
      default: 'fixed-window,3,10',
      user: { vip: 'fixed-window,6,10' },
      always: { flood: 'fixed-window,40,10,by=ip' },
    };
    const open = (more: object = {}) => start(adapter, position({ rules, ...more }));

    it('gives a user his own rule', async () => {
      const app = await open();
      expect(await statuses(app, 7, '/things', VIP)).toEqual(sequence([6, 200], [1, 429]));
      expect((await app.service.peek('vip', '/things', HERE)).remaining).toBe(0);
    });

    it('counts two users behind one address apart', async () => {
      const app = await open();
      expect(await statuses(app, 4, '/things', ALICE)).toEqual(sequence([3, 200], [1, 429]));
      expect(await statuses(app, 4, '/things', BOB)).toEqual(sequence([3, 200], [1, 429]));
      expect(await statuses(app, 7, '/things', VIP)).toEqual(sequence([6, 200], [1, 429]));
      app.clock.advance(4999);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([429]);
      app.clock.advance(1);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([200]);
    });

    it.each([
      ['without a token', undefined],
      ['with a bad one', BAD],
    ])('limits a flood of requests %s by address, and no other address', async (__, headers) => {
      const app = await start(adapter, behindProxy(adapter, position({ rules })));
      const flood = from('192.0.2.1', headers);
      expect(await statuses(app, 6, '/things', flood)).toEqual(sequence([3, 401], [3, 429]));
      expect(await statuses(app, 1, '/things', from('192.0.2.2', BAD))).toEqual([401]);
      expect(await statuses(app, 1, '/things', from('192.0.2.2', ALICE))).toEqual([200]);
      const other = { dimensions: { ip: '192.0.2.2' } };
      const { rules: told } = await app.service.peek(undefined, '/things', other);
      expect(told?.map(({ name, remaining }) => [name, remaining])).toEqual([
        ['default', 2],
        ['flood', 38],
      ]);
    });

    it('keeps out, until the window is over, also a user behind an address that was flooded', async () => {
      const app = await open();
      await statuses(app, 3, '/things', BAD);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([429]);
      app.clock.advance(5000);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([200]);
    });

    it('charges what always applies to an address once a request', async () => {
      const app = await open();
      await statuses(app, 3, '/things', ALICE);
      expect(await leftHere(app, '/things', 'flood')).toBe(37);
      await statuses(app, 2, '/things', BAD);
      expect(await leftHere(app, '/things', 'flood')).toBe(35);
      expect(await statuses(app, 6, '/things', VIP)).toEqual(sequence([6, 200]));
      expect(await leftHere(app, '/things', 'flood')).toBe(29);
    });

    it('tells the policy of the user, and each header once', async () => {
      const app = await open();
      const answer = await app.http.get('/things').set(VIP);
      expect(valuesOf(answer, 'RateLimit-Policy')).toEqual([
        expect.stringMatching(/^"flood";q=40;w=10, "[^"]+";q=6;w=10$/),
      ]);
      expect(valuesOf(answer, 'RateLimit')).toEqual([
        expect.stringMatching(/^"flood";r=39;t=5, "[^"]+";r=5;t=5$/),
      ]);
      const refused = await app.http.get('/things').set(BAD);
      expect(refused.status).toBe(401);
      expect(valuesOf(refused, 'RateLimit-Policy')).toEqual([
        '"default";q=3;w=10, "flood";q=40;w=10',
      ]);
    });

    it('leaves the address of users whole', async () => {
      const app = await open();
      await statuses(app, 4, '/things', ALICE);
      await statuses(app, 8, '/things', VIP);
      expect(await leftHere(app, '/things', 'default')).toBe(3);
    });

    it('counts the same through a store that answers later', async () => {
      const store = new SlowStore(new MemoryStore());
      const app = await open({ store });
      expect(await statuses(app, 4, '/things', ALICE)).toEqual(sequence([3, 200], [1, 429]));
      expect(await statuses(app, 7, '/things', VIP)).toEqual(sequence([6, 200], [1, 429]));
      expect(await leftHere(app, '/things', 'default')).toBe(3);
      expect(await statuses(app, 4, '/things', BAD)).toEqual(sequence([3, 401], [1, 429]));
    });

    it('has the limiter first among the global guards and interceptors', async () => {
      const app = await open();
      expect(guardsOf(app)[0]).toBe('RateLimitGuard');
      expect(interceptorsOf(app)).toEqual(['SecondDoorInterceptor']);
      expect(app.logs.ofLimiter('log')[0]).toMatch(/by user after them$/);
    });

    it('decides by address at stage guard, and says so', async () => {
      const app = await open({ stage: 'guard' });
      expect(await statuses(app, 2, '/things', ALICE)).toEqual([200, 200]);
      expect(await statuses(app, 2, '/things', VIP)).toEqual([200, 429]);
      expect(interceptorsOf(app)).toEqual([]);
      expect(app.logs.ofLimiter('log')[0]).toMatch(/with guards of their own by address$/);
    });

    it('needs no second door where nothing counts by user', async () => {
      const app = await open({ rules: { default: 'fixed-window,3,10,by=ip+api' } });
      expect(await statuses(app, 2, '/things', ALICE)).toEqual([200, 200]);
      expect(await statuses(app, 2, '/things', BOB)).toEqual([200, 429]);
      expect(interceptorsOf(app)).toEqual([]);
      expect(app.logs.ofLimiter('log')[0]).toMatch(/decided in the guard$/);
    });
  });

  describe('guards in the order in which they were registered', () => {
    const before = POSITIONS['as APP_GUARD of a module before']!;
    const rules = { ...TWO, user: { vip: 'fixed-window,4,10' } };

    it('know the user in the guard, and are named as what is not covered', async () => {
      const app = await start(adapter, before({ rules, order: 'registered' }));
      expect(guardsOf(app)).toEqual(['JwtGuard', 'RateLimitGuard']);
      expect(interceptorsOf(app)).toEqual([]);
      expect(await statuses(app, 5, '/things', VIP)).toEqual(sequence([4, 200], [1, 429]));
      expect(await statuses(app, 4, '/things', BAD)).toEqual(sequence([4, 401]));
      const line = app.logs.ofLimiter('log')[0];
      expect(line).toMatch(/decided in the guard; what JwtGuard refuses is not counted/);
    });

    it('have the second door where theirs comes after', async () => {
      const after = POSITIONS['as APP_GUARD of a module after']!;
      const app = await start(adapter, after({ rules, order: 'registered' }));
      expect(guardsOf(app)).toEqual(['RateLimitGuard', 'JwtGuard']);
      expect(interceptorsOf(app)).toEqual(['SecondDoorInterceptor']);
      expect(await statuses(app, 5, '/things', VIP)).toEqual(sequence([4, 200], [1, 429]));
    });
  });

  describe('an application without guards of its own', () => {
    it('has no interceptor', async () => {
      const app = await start(adapter, { limits: { rules: TWO }, controllers: [Bare] });
      expect(interceptorsOf(app)).toEqual([]);
      expect(app.logs.ofLimiter('log')[0]).toMatch(/decided in the guard$/);
    });

    it('has none either for the guard itself on a class', async () => {
      @UseGuards(RateLimitGuard)
      @RateLimit('fixed-window,2,10')
      @Controller()
      class Twice {
        @Get('twice')
        twice() {
          return {};
        }
      }
      const app = await start(adapter, { limits: {}, controllers: [Twice] });
      expect(interceptorsOf(app)).toEqual([]);
      expect(await statuses(app, 3, '/twice')).toEqual([200, 200, 429]);
    });
  });
});

// ── at the second door ────────────────────────────────────────────────────────────────────────────

/** Answers what it has, and asks nobody. */
@Injectable()
class Cache implements NestInterceptor {
  intercept(_ctx: ExecutionContext, _next: CallHandler) {
    return of({ cached: true });
  }
}

const body = (name: string) => (ctx: ExecutionContext) => Number(requestOf(ctx).body?.[name]);

@UseGuards(JwtGuard)
@Controller()
class Costly {
  @RateLimit('fixed-window,100,10', { cost: body('estimate'), settle: body('actual') })
  @Post('model')
  model() {
    return {};
  }
}

const guarded = (adapter: AdapterName, rules: unknown, more: object = {}, parts: AppParts = {}) =>
  start(adapter, { limits: { rules, ...more }, controllers: [GuardedClass], ...parts });

describe.each(ADAPTERS)('the second door on %s', (adapter) => {
  it('refuses as the first does, and says truly when to come back', async () => {
    const app = await guarded(adapter, { default: 'token-bucket,2,9' });
    await statuses(app, 2, '/things', ALICE);
    app.clock.advance(300);
    const refused = await app.http.get('/things').set(ALICE);
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      'retry-after': '5',
      'cache-control': 'no-store',
      ratelimit: '"default";r=0;t=5',
    });
    expect(refused.body).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: expect.any(String),
      policy: 'default',
      retryAfterMillis: 4200,
    });
    app.clock.advance(4199);
    expect(await statuses(app, 1, '/things', ALICE)).toEqual([429]);
    app.clock.advance(1);
    expect(await statuses(app, 2, '/things', ALICE)).toEqual([200, 429]);
  });

  it.each([
    ['fixed-window,3,10', 'fixed-window,2,1'],
    ['token-bucket,3,10', 'token-bucket,2,1'],
    ['sliding-window,3,10', 'sliding-window,2,1'],
    ['sliding-window-counter,3,10', 'sliding-window-counter,2,1'],
  ])(
    'says truly when to come back also where %s always applies to the address',
    async (always, own) => {
      const rules = { default: own, always: { flood: `${always},by=ip` } };
      const app = await guarded(adapter, rules);
      await statuses(app, 2, '/things', ALICE);
      const refused = await app.http.get('/things').set(ALICE);
      expect(refused.status).toBe(429);
      const { retryAfterMillis } = refused.body;
      app.clock.advance(retryAfterMillis - 1);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([429]);
      app.clock.advance(1);
      expect(await statuses(app, 1, '/things', ALICE)).toEqual([200]);
    },
  );

  it('spends nothing of rules that are joined where it refuses', async () => {
    const own = 'fixed-window,2,10 & fixed-window,100,10,by=global,name=all';
    const app = await guarded(adapter, { default: own });
    expect(await statuses(app, 20, '/things', ALICE)).toEqual(sequence([2, 200], [18, 429]));
    const { rules } = await app.service.peek('bob', '/things', HERE);
    expect(rules?.map(({ remaining }) => remaining)).toEqual([2, 98]);
    const refused = await app.http.get('/things').set(ALICE);
    expect(refused.headers['ratelimit']).toMatch(/"all";r=98/);
    expect(refused.headers['ratelimit']).toMatch(/"default";r=0/);
  });

  it.each([
    ['of the application', { setUp: (app) => app.useGlobalInterceptors(new Cache()) } as AppParts],
    ['of a module', { providers: [{ provide: APP_INTERCEPTOR, useClass: Cache }] }],
  ])('stands before a cache %s', async (_, parts) => {
    const app = await guarded(adapter, TWO, {}, parts);
    expect(interceptorsOf(app)).toEqual(['SecondDoorInterceptor', 'Cache']);
    const first = await app.http.get('/things').set(ALICE);
    expect(first.body).toEqual({ cached: true });
    expect(await statuses(app, 2, '/things', ALICE)).toEqual([200, 429]);
    expect(await statuses(app, 1, '/things', BOB)).toEqual([200]);
  });

  it('counts failures: of guards to the address, of the handler to the user', async () => {
    const app = await guarded(adapter, { default: 'fixed-window,3,10,count=failures' });
    const remaining = async (user: string | undefined, api: string) =>
      (await app.service.peek(user, api, HERE)).remaining;
    await statuses(app, 2, '/missing', BAD);
    expect(await remaining(undefined, '/missing')).toBe(1);
    expect(await statuses(app, 5, '/missing', ALICE)).toEqual(sequence([3, 404], [2, 429]));
    expect(await remaining('alice', '/missing')).toBe(0);
    expect(await remaining(undefined, '/missing')).toBe(1);
    expect(await statuses(app, 5, '/things', ALICE)).toEqual(sequence([5, 200]));
    expect(await remaining('alice', '/things')).toBe(3);
    expect(await remaining(undefined, '/things')).toBe(3);
    expect(await statuses(app, 5, '/broken', ALICE)).toEqual(sequence([5, 500]));
    expect(await remaining('alice', '/broken')).toBe(3);
    expect(await remaining(undefined, '/broken')).toBe(3);
  });

  it('counts successes to the user alone', async () => {
    const app = await guarded(adapter, { default: 'fixed-window,3,10,count=successes' });
    expect(await statuses(app, 5, '/things', BAD)).toEqual(sequence([5, 401]));
    expect(await statuses(app, 5, '/missing', ALICE)).toEqual(sequence([5, 404]));
    expect(await statuses(app, 4, '/things', ALICE)).toEqual(sequence([3, 200], [1, 429]));
    expect(await leftHere(app)).toBe(3);
  });

  it('settles the user, and gives the address all of it back', async () => {
    const app = await start(adapter, { limits: {}, controllers: [Costly] });
    const ask = (estimate: number, actual: number) =>
      app.http.post('/model').set(ALICE).send({ estimate, actual });
    const first = await ask(30, 10);
    expect([first.status, left(first)]).toEqual([201, 70]);
    expect((await app.service.peek('alice', '/model', HERE)).remaining).toBe(90);
    expect(await leftHere(app, '/model')).toBe(100);
    await ask(30, 50);
    expect((await app.service.peek('alice', '/model', HERE)).remaining).toBe(40);
    expect((await ask(41, 0)).status).toBe(429);
    expect(await leftHere(app, '/model')).toBe(100);
    const nobody = await app.http.post('/model').send({ estimate: 60, actual: 1 });
    expect([nobody.status, await leftHere(app, '/model')]).toEqual([401, 40]);
  });

  it.each([
    ['at once', (id: string) => (id === 'alice' ? 'pro' : undefined)],
    ['later', async (id: string) => (id === 'alice' ? 'pro' : undefined)],
  ])('knows the tier of a user, told %s and asked for once', async (_, answer) => {
    const tierOf = jest.fn<unknown, [string]>(answer);
    const rules = { ...TWO, tier: { pro: 'fixed-window,4,10' } };
    const app = await guarded(adapter, rules, { tierOf, tierCacheMillis: 0 });
    expect(await statuses(app, 5, '/things', ALICE)).toEqual(sequence([4, 200], [1, 429]));
    expect(tierOf).toHaveBeenCalledTimes(5);
    expect(await statuses(app, 3, '/things', BOB)).toEqual([200, 200, 429]);
    expect(await leftHere(app)).toBe(2);
  });

  it('is not there for rules that apply to users alone, until there is a user', async () => {
    const app = await guarded(adapter, { user: { vip: 'fixed-window,2,10' } });
    expect(await statuses(app, 9, '/things', BAD)).toEqual(sequence([9, 401]));
    expect(await statuses(app, 9, '/things', ALICE)).toEqual(sequence([9, 200]));
    expect(await statuses(app, 3, '/things', VIP)).toEqual([200, 200, 429]);
    const answer = await app.http.get('/things').set(ALICE);
    expect(answer.headers).not.toHaveProperty('ratelimit');
  });

  it('takes the headers of the address back, in every dialect', async () => {
    const own = ({ limit }: { limit: number }) => ({ [`X-Of-${limit}`]: 'told' });
    const rules = { ...TWO, user: { vip: 'fixed-window,4,10' } };
    const app = await guarded(adapter, rules, { headers: ['ietf', 'legacy', own] });
    const answer = await app.http.get('/things').set(VIP);
    expect(valuesOf(answer, 'X-RateLimit-Limit')).toEqual(['4']);
    expect(valuesOf(answer, 'RateLimit')).toHaveLength(1);
    expect(valuesOf(answer, 'X-Of-2')).toEqual([]);
    expect(valuesOf(answer, 'X-Of-4')).toEqual(['told']);
  });

  it('blocks a user for as long as was said, whatever else applies', async () => {
    const rules = {
      default: 'fixed-window,5,10 & fixed-window,9,1m',
      always: { flood: 'fixed-window,40,10,by=ip' },
    };
    const app = await guarded(adapter, rules);
    await app.service.block('alice', '/things', 60_000);
    const refused = await app.http.get('/things').set(ALICE);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(refused.body.retryAfterMillis).toBe(60_000);
    expect(await statuses(app, 1, '/things', BOB)).toEqual([200]);
  });

  it('has a user wait, and gives the address back before', async () => {
    const clock = new WatchedClock(START);
    const rules = { default: 'fixed-window,50,10', user: { vip: 'token-bucket,1,1,wait=5s' } };
    const app = await guarded(
      adapter,
      rules,
      {},
      {
        override: (builder) => builder.overrideProvider(Clock).useValue(clock),
      },
    );
    expect(await statuses(app, 1, '/things', VIP)).toEqual([200]);
    let status: number | undefined;
    const second = app.http
      .get('/things')
      .set(VIP)
      .then((answer) => {
        status = answer.status;
      });
    await until('it waits', () => clock.asleep === 1);
    expect(await leftHere(app)).toBe(50);
    clock.advance(999);
    await turn();
    expect(status).toBeUndefined();
    clock.advance(1);
    await second;
    expect(status).toBe(200);
  });
});
