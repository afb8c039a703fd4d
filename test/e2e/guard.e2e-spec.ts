import {
  type ArgumentsHost,
  applyDecorators,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Redirect,
  Res,
  Scope,
  Sse,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, REQUEST } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  LimiterFactory,
  MemoryStore,
  Policy,
  RateLimit,
  RateLimitExceededException,
  RateLimitGuard,
  RateLimitModule,
  RateLimitService,
  RateLimitStore,
  Rule,
  RuleBook,
  SkipRateLimit,
} from 'nestjs-doorman';
import { of } from 'rxjs';
import {
  ADAPTERS,
  type AppParts,
  byHeader,
  left,
  overUnixSocket,
  type Running,
  SlowStore,
  start,
  statuses,
  userOf,
} from './support.js';

const ALICE = { 'x-user': 'alice' };
const BOB = { 'x-user': 'bob' };
const NINE = { default: 'fixed-window,9,10' };
const TWO = { default: 'fixed-window,2,10' };

@Controller('plain')
class Plain {
  @Get()
  get() {
    return {};
  }
}

@Controller('decorated')
class DecoratedHandler {
  @RateLimit('fixed-window,5,10')
  @Get()
  get() {
    return {};
  }
}

/** `x-principal` as JSON becomes `req.user`: stands in for an authentication guard. */
@Injectable()
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const req = context.switchToHttp().getRequest();
    const text = req.headers['x-principal'];
    if (text !== undefined) req.user = JSON.parse(text);
    return true;
  }
}

@Module({ providers: [{ provide: APP_GUARD, useClass: SignIn }] })
class SignInModule {}

const principal = (value: unknown) => ({ 'x-principal': JSON.stringify(value) });

describe.each(ADAPTERS)('how often the guard counts on %s', (adapter) => {
  it('counts a decorated handler once, though two guards are bound', async () => {
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [DecoratedHandler] });
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(3);
  });

  it('counts once where class, handler and application bind it', async () => {
    @RateLimit('fixed-window,7,10')
    @Controller('both')
    class Both {
      @RateLimit('fixed-window,5,10')
      @Get()
      get() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [Both] });
    expect(left(await app.http.get('/both').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/both').set(ALICE))).toBe(3);
  });

  it('counts once where @UseGuards binds it again', async () => {
    @UseGuards(RateLimitGuard)
    @Controller('again')
    class Again {
      @UseGuards(RateLimitGuard, RateLimitGuard)
      @Get()
      get() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [Again] });
    expect(left(await app.http.get('/again').set(ALICE))).toBe(8);
    expect(left(await app.http.get('/again').set(ALICE))).toBe(7);
  });

  it('is bound by @UseGuards in a module that imports nothing', async () => {
    @UseGuards(RateLimitGuard)
    @Controller('feature')
    class Inner {
      @Get()
      get() {
        return {};
      }
    }
    @Module({ controllers: [Inner] })
    class FeatureModule {}
    const app = await start(adapter, { limits: byHeader(NINE), imports: [FeatureModule] });
    expect(left(await app.http.get('/feature').set(ALICE))).toBe(8);
  });

  it('guards what @UseGuards binds where it is not bound globally', async () => {
    @UseGuards(RateLimitGuard)
    @Controller('by-hand')
    class ByHand {
      @Get()
      get() {
        return {};
      }
    }
    const app = await start(adapter, {
      limits: byHeader(NINE, { guard: false } as object),
      controllers: [ByHand, Plain],
    });
    expect(left(await app.http.get('/by-hand').set(ALICE))).toBe(8);
    expect((await app.http.get('/plain').set(ALICE)).headers).not.toHaveProperty('ratelimit');
  });

  it('counts once where the application binds it with useGlobalGuards as well', async () => {
    const app = await start(adapter, {
      limits: byHeader(NINE),
      controllers: [Plain],
      setUp: (one) => one.useGlobalGuards(one.get(RateLimitGuard, { strict: false })),
    });
    expect(left(await app.http.get('/plain').set(ALICE))).toBe(8);
    expect(left(await app.http.get('/plain').set(ALICE))).toBe(7);
  });

  it('can be bound by another module, in a place of its own', async () => {
    const app = await start(adapter, {
      limits: byHeader(NINE, { guard: false } as object),
      controllers: [Plain, DecoratedHandler],
      providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
    });
    expect(left(await app.http.get('/plain').set(ALICE))).toBe(8);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
  });

  it('counts once where a guard of the handler asks it again', async () => {
    @Injectable()
    class Twice implements CanActivate {
      constructor(@Inject(RateLimitGuard) private readonly guard: RateLimitGuard) {}

      async canActivate(context: ExecutionContext): Promise<boolean> {
        const first = await this.guard.canActivate(context);
        return first && (await this.guard.canActivate(context));
      }
    }
    @Controller('twice')
    class TwiceGuarded {
      @UseGuards(Twice)
      @Get()
      get() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [TwiceGuarded] });
    expect(left(await app.http.get('/twice').set(ALICE))).toBe(8);
    expect(left(await app.http.get('/twice').set(ALICE))).toBe(7);
  });

  it.each(['at once', 'by promise'])(
    'says the same again, and counts once, where a refusal is caught: decided %s',
    async (how) => {
      const said: unknown[] = [];
      @Injectable()
      class Again implements CanActivate {
        constructor(@Inject(RateLimitGuard) private readonly guard: RateLimitGuard) {}

        async canActivate(context: ExecutionContext): Promise<boolean> {
          const ask = async () => this.guard.canActivate(context);
          said.push(await ask().catch((error) => error));
          app.clock.advance(10_000);
          said.push(await ask().catch((error) => error));
          throw said.at(-1);
        }
      }
      @Controller('again')
      class AgainGuarded {
        @UseGuards(Again)
        @Get()
        get() {
          return {};
        }
      }
      const store = how === 'at once' ? new MemoryStore() : new SlowStore(new MemoryStore());
      const limits = byHeader(TWO, { store, guard: false } as object);
      const app = await start(adapter, { limits, controllers: [AgainGuarded] });
      const decided: boolean[] = [];
      app.service.decisions$.subscribe(({ decision }) => decided.push(decision.allowed));
      for (let i = 0; i < 2; i++) await app.service.check('alice', '/again');
      expect((await app.http.get('/again').set(ALICE)).status).toBe(429);
      expect(said[0]).toBeInstanceOf(RateLimitExceededException);
      expect(said[1]).toBe(said[0]);
      expect(decided).toEqual([true, true, false]);
    },
  );

  it('counts once while the first answer is still awaited', async () => {
    @Injectable()
    class AtOnce implements CanActivate {
      constructor(@Inject(RateLimitGuard) private readonly guard: RateLimitGuard) {}

      async canActivate(context: ExecutionContext): Promise<boolean> {
        const answers = [this.guard.canActivate(context), this.guard.canActivate(context)];
        return (await Promise.all(answers)).every((answer) => answer);
      }
    }
    @Controller('at-once')
    class AtOnceGuarded {
      @UseGuards(AtOnce)
      @Get()
      get() {
        return {};
      }
    }
    const store = new SlowStore(new MemoryStore());
    const app = await start(adapter, {
      limits: byHeader(TWO, { store, guard: false } as object),
      controllers: [AtOnceGuarded],
    });
    expect(await statuses(app, 3, '/at-once', ALICE)).toEqual([200, 200, 429]);
    expect(store.decided).toBe(3);
  });

  it.each(['at once', 'by promise'])(
    'lets exactly the limit in of many at once, %s',
    async (how) => {
      const store = how === 'at once' ? new MemoryStore() : new SlowStore(new MemoryStore());
      const limits = byHeader({ default: 'fixed-window,5,10' }, { store });
      const app = await start(adapter, { limits, controllers: [Plain] });
      const all = Array.from({ length: 20 }, () => app.http.get('/plain').set(ALICE));
      const answers = await Promise.all(all);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
    },
  );

  it('counts once where the controller lives for one request', async () => {
    @Controller({ path: 'scoped', scope: Scope.REQUEST })
    class Scoped {
      @Get()
      get() {
        return {};
      }

      @RateLimit('fixed-window,5,10')
      @Get('decorated')
      decorated() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [Scoped] });
    expect(left(await app.http.get('/scoped').set(ALICE))).toBe(8);
    expect(left(await app.http.get('/scoped').set(ALICE))).toBe(7);
    expect(left(await app.http.get('/scoped/decorated').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/scoped/decorated').set(ALICE))).toBe(3);
  });

  it('tells what is left also where the handler throws', async () => {
    @Controller('failing')
    class Failing {
      @Get()
      get() {
        throw new NotFoundException();
      }
    }
    const app = await start(adapter, { limits: byHeader(TWO), controllers: [Failing] });
    const response = await app.http.get('/failing').set(ALICE);
    expect(response.status).toBe(404);
    expect(left(response)).toBe(1);
    expect(await statuses(app, 2, '/failing', ALICE)).toEqual([404, 429]);
  });
});

describe.each(ADAPTERS)('which guard runs on %s', (adapter) => {
  it('limits only what is decorated with guard: false', async () => {
    const limits = byHeader(TWO, { guard: false } as object);
    const app = await start(adapter, { limits, controllers: [Plain, DecoratedHandler] });
    expect(await statuses(app, 4, '/plain', ALICE)).toEqual([200, 200, 200, 200]);
    expect((await app.http.get('/plain').set(ALICE)).headers).not.toHaveProperty('ratelimit');
    const seen = await statuses(app, 6, '/decorated', ALICE);
    expect(seen).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('limits every handler of a decorated class with guard: false', async () => {
    @RateLimit('fixed-window,1,10')
    @Controller('class')
    class Whole {
      @Get('a')
      a() {
        return {};
      }

      @SkipRateLimit()
      @Get('b')
      b() {
        return {};
      }
    }
    const limits = byHeader(TWO, { guard: false } as object);
    const app = await start(adapter, { limits, controllers: [Whole] });
    expect(await statuses(app, 2, '/class/a', ALICE)).toEqual([200, 429]);
    expect(await statuses(app, 2, '/class/b', ALICE)).toEqual([200, 200]);
  });

  it('uses a subclass in its place, everywhere', async () => {
    const asked: string[] = [];
    @Injectable()
    class MyGuard extends RateLimitGuard {
      override canActivate(context: ExecutionContext) {
        asked.push(context.getHandler().name);
        const { headers } = context.switchToHttp().getRequest();
        return headers['x-admin'] === 'yes' || super.canActivate(context);
      }
    }
    const limits = byHeader(TWO, { guard: MyGuard } as object);
    const app = await start(adapter, { limits, controllers: [Plain, DecoratedHandler] });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(asked).toEqual(['get', 'get', 'get']);
    expect(await statuses(app, 2, '/plain', { ...ALICE, 'x-admin': 'yes' })).toEqual([200, 200]);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
    expect(app.app.get(RateLimitGuard, { strict: false })).toBeInstanceOf(MyGuard);
    const skipped = await app.http.get('/decorated').set({ ...ALICE, 'x-admin': 'yes' });
    expect(skipped.headers).not.toHaveProperty('ratelimit');
  });

  it('gives a subclass what it asks for beside the parts of the guard', async () => {
    @Injectable()
    class Friends {
      has(user: string | undefined) {
        return user === 'alice';
      }
    }
    @Module({ providers: [Friends], exports: [Friends] })
    class FriendsModule {}
    @Injectable()
    class FriendlyGuard extends RateLimitGuard {
      @Inject(Friends) private readonly friends!: Friends;

      override canActivate(context: ExecutionContext) {
        return (
          this.friends.has(userOf(context.switchToHttp().getRequest())) ||
          super.canActivate(context)
        );
      }
    }
    const app = await start(adapter, {
      imports: [
        RateLimitModule.forRootAsync({
          imports: [FriendsModule],
          guard: FriendlyGuard,
          useFactory: () => ({ user: userOf, rules: TWO }),
        }),
      ],
      controllers: [Plain],
    });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    expect(await statuses(app, 3, '/plain', BOB)).toEqual([200, 200, 429]);
  });

  it('is never silently idle where a subclass lives for one request', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class ScopedGuard extends RateLimitGuard {
      @Inject(REQUEST) readonly request: unknown;
    }
    const limits = byHeader(TWO, { guard: ScopedGuard } as object);
    const outcome = await start(adapter, { limits, controllers: [Plain] }).then(
      (app) => statuses(app, 3, '/plain', ALICE),
      () => 'refused to start',
    );
    expect([[200, 200, 429], 'refused to start']).toContainEqual(outcome);
  });

  it('limits nothing with mode off', async () => {
    const limits = byHeader(TWO, { mode: 'off', always: 'fixed-window,1,10,name=all' });
    const app = await start(adapter, { limits, controllers: [Plain, DecoratedHandler] });
    expect(await statuses(app, 5, '/plain', ALICE)).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(app, 6, '/decorated', ALICE)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await app.http.get('/plain').set(ALICE)).headers).not.toHaveProperty('ratelimit');
    expect(app.logs.ofLimiter('log').join()).toMatch(/off/);
  });

  it.each([
    ['an object', { ...TWO, mode: 'off' }],
    ['text', 'default = fixed-window,2,10\nmode = off'],
  ])('limits nothing where the book says mode off in %s', async (_, rules) => {
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Plain] });
    expect(await statuses(app, 4, '/plain', ALICE)).toEqual([200, 200, 200, 200]);
  });
});

describe.each(ADAPTERS)('skip on %s', (adapter) => {
  const withSkip = (skip: unknown) =>
    start(adapter, {
      limits: byHeader(TWO, { skip } as object),
      controllers: [Plain, DecoratedHandler],
    });
  const internal = (context: ExecutionContext) =>
    context.switchToHttp().getRequest().headers['x-internal'] === 'yes';
  const INTERNAL = { ...ALICE, 'x-internal': 'yes' };

  it.each([
    ['at once', internal],
    ['by promise', async (context: ExecutionContext) => internal(context)],
  ])('lets through uncounted who is to be skipped, told %s', async (_, skip) => {
    const app = await withSkip(skip);
    expect(await statuses(app, 4, '/plain', INTERNAL)).toEqual([200, 200, 200, 200]);
    expect(await statuses(app, 6, '/decorated', INTERNAL)).toEqual(Array<number>(6).fill(200));
    expect((await app.http.get('/plain').set(INTERNAL)).headers).not.toHaveProperty('ratelimit');
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
  });

  it.each([
    ['false by promise', async () => false],
    ['false', () => false],
    ['undefined by promise', async () => undefined],
    ['undefined', () => undefined],
  ])('skips nobody for %s', async (_, skip) => {
    const app = await withSkip(skip);
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no'))],
  ])('lets nobody in by mistake where it %s', async (_, skip) => {
    const app = await withSkip(skip);
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([500, 500]);
  });
});

describe.each(ADAPTERS)('who asks on %s', (adapter) => {
  const plain = (limits: object, more: AppParts = {}) =>
    start(adapter, { controllers: [Plain, DecoratedHandler], ...more, limits });

  it.each([
    ['at once', (req: never) => userOf(req)],
    ['by promise', async (req: never) => userOf(req)],
  ])('asks the option user, which answers %s', async (_, user) => {
    const app = await plain({ rules: TWO, user });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 1, '/plain', BOB)).toEqual([200]);
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
  });

  it('hands request and context to the option user', async () => {
    const user = jest.fn((req, context: ExecutionContext) => {
      return `${req === context.switchToHttp().getRequest()}-${context.getClass().name}`;
    });
    const app = await plain({ rules: { user: { 'true-Plain': 'fixed-window,3,10' } }, user });
    expect(left(await app.http.get('/plain'))).toBe(2);
  });

  it.each([
    ['a number', 7, '7'],
    ['zero', 0, '0'],
    ['a big integer', 12345678901234567890n, '12345678901234567890'],
    ['empty text', '', ''],
    ['text like a prototype', '__proto__', '__proto__'],
  ])('counts by an id that is %s', async (_, id, text) => {
    const app = await plain({ rules: TWO, user: () => id });
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    expect((await app.service.peek(text, '/plain')).remaining).toBe(0);
    expect(app.logs.warnings()).toEqual([]);
  });

  it.each([null, undefined])('counts by address who has the id %s', async (id) => {
    const app = await plain({ rules: TWO, user: () => id });
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    const ip = { dimensions: { ip: '127.0.0.1' } };
    expect((await app.service.peek(undefined, '/plain', ip)).remaining).toBe(0);
    expect(app.logs.warnings()).toEqual([]);
  });

  it.each([
    ['an object', { id: 'alice' }],
    ['a boolean', true],
    ['a symbol', Symbol('alice')],
    ['a function', () => 'alice'],
  ])('counts by address, and warns once, where the id is %s', async (_, id) => {
    const app = await plain({ rules: TWO, user: () => id });
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    const ip = { dimensions: { ip: '127.0.0.1' } };
    expect((await app.service.peek(undefined, '/plain', ip)).remaining).toBe(0);
    expect(app.logs.warnings('id')).toHaveLength(1);
  });

  it('does not make one user of all whose id is not a number', async () => {
    const app = await plain({ rules: TWO, user: () => Number.NaN });
    await statuses(app, 3, '/plain');
    expect((await app.service.peek('NaN', '/plain')).remaining).toBe(2);
  });

  it.each([
    ['throws', () => JSON.parse('{')],
    ['rejects', async () => JSON.parse('{')],
  ])('lets nobody in by mistake where the option user %s', async (_, user) => {
    const app = await plain({ rules: TWO, user });
    expect(await statuses(app, 3, '/plain')).toEqual([500, 500, 500]);
  });

  it.each([
    ['text', 'alice', 'alice'],
    ['a number', 42, '42'],
    ['an id', { id: 'alice', sub: 'other', userId: 'third' }, 'alice'],
    ['an id of zero', { id: 0, sub: 'other' }, '0'],
    ['a sub', { sub: 'alice', userId: 'other' }, 'alice'],
    ['a userId', { userId: 'alice' }, 'alice'],
    ['a null id and a sub', { id: null, sub: 'alice' }, 'alice'],
  ])('takes %s of req.user by itself', async (_, user, id) => {
    const app = await plain({ rules: TWO, order: 'registered' }, { imports: [SignInModule] });
    expect(await statuses(app, 3, '/plain', principal(user))).toEqual([200, 200, 429]);
    expect((await app.service.peek(id, '/plain')).remaining).toBe(0);
    expect(await statuses(app, 1, '/plain')).toEqual([200]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('warns once of a principal without an id, and counts it by address', async () => {
    const app = await plain({ rules: TWO, order: 'registered' }, { imports: [SignInModule] });
    const nameless = principal({ name: 'Alice' });
    expect(await statuses(app, 2, '/plain', nameless)).toEqual([200, 200]);
    expect(await statuses(app, 1, '/plain')).toEqual([429]);
    expect(app.logs.warnings('req.user')).toHaveLength(1);
  });

  it('makes one id of spellings that mean the same', async () => {
    const rules = { ...TWO, user: { 'vip-1': 'fixed-window,4,10' } };
    const normalizeId = (id: string) => id.toLowerCase();
    const app = await plain(byHeader(rules, { normalizeId }));
    expect(await statuses(app, 1, '/plain', { 'x-user': 'Alice' })).toEqual([200]);
    expect(await statuses(app, 2, '/plain', { 'x-user': 'ALICE' })).toEqual([200, 429]);
    expect(left(await app.http.get('/plain').set({ 'x-user': 'VIP-1' }))).toBe(3);
    expect((await app.service.peek('aLiCe', '/plain')).remaining).toBe(0);
    await app.service.reset('ALICE', '/plain');
    expect(await statuses(app, 1, '/plain', { 'x-user': 'alice' })).toEqual([200]);
  });

  it('never takes an id for an address, or an address for an id', async () => {
    const rules = { ...TWO, user: { '127.0.0.1': 'fixed-window,7,10' } };
    const app = await plain(byHeader(rules));
    expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
    expect(left(await app.http.get('/plain').set({ 'x-user': '127.0.0.1' }))).toBe(6);
    for (const id of ['@127.0.0.1', '=@127.0.0.1', '==@127.0.0.1', '::1', '@']) {
      expect(left(await app.http.get('/plain').set({ 'x-user': id }))).toBe(1);
    }
  });
});

describe.each(ADAPTERS)('addresses on %s', (adapter) => {
  const fromHeader = (context: ExecutionContext): string | undefined =>
    context.switchToHttp().getRequest().headers['x-address'];
  const at = (address: string) => ({ 'x-address': address });
  const leftAt = async ({ http }: Running, address: string) =>
    left(await http.get('/plain').set(at(address)));

  it.each([
    ['at once', fromHeader],
    ['by promise', async (context: ExecutionContext) => fromHeader(context)],
  ])('asks the option address, which answers %s', async (_, address) => {
    const app = await start(adapter, { limits: { rules: TWO, address }, controllers: [Plain] });
    expect(await leftAt(app, '192.0.2.1')).toBe(1);
    expect(await leftAt(app, '192.0.2.2')).toBe(1);
    expect(await leftAt(app, '192.0.2.1')).toBe(0);
  });

  it('counts the notations of one address together', async () => {
    const limits = { rules: NINE, address: fromHeader };
    const app = await start(adapter, { limits, controllers: [Plain] });
    const spellings = ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:0201', '192.0.2.1:443'];
    const seen: number[] = [];
    for (const text of spellings) seen.push(await leftAt(app, text));
    expect(seen).toEqual([8, 7, 6, 5]);
    expect(await leftAt(app, '::ffff:192.0.2.2')).toBe(8);
  });

  it('counts 56 bits of IPv6 together', async () => {
    const limits = { rules: NINE, address: fromHeader };
    const app = await start(adapter, { limits, controllers: [Plain] });
    expect(await leftAt(app, '2001:db8:1:200::1')).toBe(8);
    expect(await leftAt(app, '2001:0DB8:1:02ff:9::2%eth0')).toBe(7);
    expect(await leftAt(app, '[2001:db8:1:2aa::]:8080')).toBe(6);
    expect(await leftAt(app, '2001:db8:1:300::1')).toBe(8);
  });

  it('counts as many bits as ipv6Prefix says', async () => {
    const limits = { rules: NINE, address: fromHeader, ipv6Prefix: 64 };
    const app = await start(adapter, { limits, controllers: [Plain] });
    expect(await leftAt(app, '2001:db8:1:200::1')).toBe(8);
    expect(await leftAt(app, '2001:db8:1:200::2')).toBe(7);
    expect(await leftAt(app, '2001:db8:1:201::1')).toBe(8);
    const ip = { dimensions: { ip: '2001:db8:1:200:ffff::9' } };
    expect((await app.service.peek(undefined, '/plain', ip)).remaining).toBe(7);
  });

  it('skips the rule, and warns once, where nobody and no address is known', async () => {
    const app = await start(adapter, { limits: { rules: TWO }, controllers: [Plain] });
    const answers = await overUnixSocket(app, 4, '/plain');
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(answers.map(({ headers }) => headers['ratelimit'])).toEqual(Array(4).fill(undefined));
    expect(app.logs.warnings('skipped')).toHaveLength(1);
  });

  it.each([[undefined], [''], [7], [null]])(
    'counts by the framework’s own address where the option answers %p',
    async (answer) => {
      const limits = { rules: TWO, address: () => answer as undefined };
      const app = await start(adapter, { limits, controllers: [Plain] });
      expect(await statuses(app, 3, '/plain')).toEqual([200, 200, 429]);
      const told = answer === undefined || answer === '' ? 0 : 1;
      expect(app.logs.warnings('option address')).toHaveLength(told);
    },
  );

  const behind = (trust: unknown): AppParts =>
    adapter === 'express'
      ? {
          setUp: (app: INestApplication) =>
            app.getHttpAdapter().getInstance().set('trust proxy', trust),
        }
      : { adapter: new FastifyAdapter({ trustProxy: trust as string }) };
  const via = (...addresses: string[]) => ({ 'X-Forwarded-For': addresses.join(', ') });

  it('believes the proxies that the framework trusts', async () => {
    const app = await start(adapter, {
      limits: { rules: TWO },
      controllers: [Plain],
      ...behind('127.0.0.1'),
    });
    expect(await statuses(app, 3, '/plain', via('192.0.2.1'))).toEqual([200, 200, 429]);
    expect(await statuses(app, 1, '/plain', via('192.0.2.2'))).toEqual([200]);
    expect(await statuses(app, 1, '/plain', via('192.0.2.3', '192.0.2.1'))).toEqual([429]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('believes no header where no proxy is trusted, and warns once', async () => {
    const app = await start(adapter, { limits: { rules: TWO }, controllers: [Plain] });
    expect(await statuses(app, 1, '/plain', via('192.0.2.1'))).toEqual([200]);
    expect(await statuses(app, 2, '/plain', via('192.0.2.2'))).toEqual([200, 429]);
    expect(app.logs.warnings('X-Forwarded-For', 'no proxy is trusted')).toHaveLength(1);
    expect(app.logs.warnings()).toHaveLength(1);
  });

  it('warns once where every proxy is trusted', async () => {
    const app = await start(adapter, {
      limits: { rules: TWO },
      controllers: [Plain],
      ...behind(true),
    });
    expect(await statuses(app, 1, '/plain', via('192.0.2.1'))).toEqual([200]);
    expect(await statuses(app, 1, '/plain', via('192.0.2.2'))).toEqual([200]);
    expect(app.logs.warnings('Every proxy is trusted')).toHaveLength(1);
    expect(app.logs.warnings()).toHaveLength(1);
  });

  const ranges = ['loopback', '127.0.0.0/8, 192.0.2.0/24'];
  // Only Express counts hops: Fastify trusts nobody for a number.
  const trusted = adapter === 'express' ? [1, 2, 3, ...ranges] : ranges;

  it.each(trusted)('warns of nothing where the proxies that are trusted are %p', async (trust) => {
    const app = await start(adapter, {
      limits: { rules: TWO },
      controllers: [Plain],
      ...behind(trust),
    });
    expect(await statuses(app, 1, '/plain', via('198.51.100.1'))).toEqual([200]);
    expect(await statuses(app, 1, '/plain', via('198.51.100.1', '192.0.2.1'))).toEqual([200]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('warns of no proxy where no request came by one', async () => {
    const app = await start(adapter, { limits: { rules: TWO }, controllers: [Plain] });
    expect(await statuses(app, 2, '/plain')).toEqual([200, 200]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('counts by address and by user in one rule of each', async () => {
    const rules = { default: 'fixed-window,3,10,by=ip,name=address & fixed-window,2,10,name=mine' };
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Plain] });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 2, '/plain', BOB)).toEqual([200, 429]);
    const refused = await app.http.get('/plain').set(BOB);
    expect(refused.body.policy).toBe('address');
  });
});

describe.each(ADAPTERS)('what counts apart on %s', (adapter) => {
  it('counts controllers that share a base class apart', async () => {
    class Base {
      @RateLimit('fixed-window,5,10')
      @Get('decorated')
      decorated() {
        return {};
      }

      @Get('plain')
      plain() {
        return {};
      }
    }
    @Controller('first')
    class First extends Base {}
    @RateLimit('fixed-window,7,10')
    @Controller('second')
    class Second extends Base {}
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [First, Second] });
    const seen: number[] = [];
    for (const path of ['/first/decorated', '/second/decorated', '/first/plain', '/second/plain']) {
      seen.push(left(await app.http.get(path).set(ALICE)));
    }
    expect(seen).toEqual([4, 4, 8, 6]);
  });

  it('has the rule of a base class for those that extend it, each counted apart', async () => {
    @RateLimit('fixed-window,5,10')
    class Base {
      @Get()
      get() {
        return {};
      }
    }
    @Controller('first')
    class First extends Base {}
    @SkipRateLimit()
    @Controller('second')
    class Second extends Base {}
    @RateLimit('fixed-window,3,10')
    @Controller('third')
    class Third extends Base {}
    const app = await start(adapter, {
      limits: byHeader(NINE),
      controllers: [First, Second, Third],
    });
    const seen: number[] = [];
    for (const path of ['/first', '/second', '/third', '/first']) {
      seen.push(left(await app.http.get(path).set(ALICE)));
    }
    expect(seen).toEqual([4, Number.NaN, 2, 3]);
  });

  function sameName(path: string, rule = 'fixed-window,5,10'): Type {
    @Controller(path)
    class Orders {
      @RateLimit(rule)
      @Get()
      get() {
        return {};
      }
    }
    return Orders;
  }

  it('counts controllers of one name in different modules apart', async () => {
    @Module({ controllers: [sameName('shop')] })
    class ShopModule {}
    @Module({ controllers: [sameName('admin')] })
    class AdminModule {}
    const app = await start(adapter, { limits: byHeader({}), imports: [ShopModule, AdminModule] });
    expect(left(await app.http.get('/shop').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/admin').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/shop').set(ALICE))).toBe(3);
  });

  it('has one counter for two places with one name and one rule', async () => {
    const named = 'fixed-window,5,10,by=user,name=shared';
    @Module({ controllers: [sameName('shop', named)] })
    class ShopModule {}
    @Module({ controllers: [sameName('admin', named)] })
    class AdminModule {}
    const app = await start(adapter, { limits: byHeader({}), imports: [ShopModule, AdminModule] });
    expect(left(await app.http.get('/shop').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/admin').set(ALICE))).toBe(3);
  });

  it('has one counter for all handlers of a class whose rule does not count by api', async () => {
    @RateLimit('fixed-window,5,10,by=user')
    @Controller('class')
    class Whole {
      @Get('a')
      a() {
        return {};
      }

      @Get('b')
      b() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader({}), controllers: [Whole] });
    expect(left(await app.http.get('/class/a').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/class/b').set(ALICE))).toBe(3);
    expect(left(await app.http.get('/class/b').set(BOB))).toBe(4);
  });

  it('has one counter for all with by=global', async () => {
    const rules = { default: 'fixed-window,5,10,by=global' };
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Plain] });
    expect(left(await app.http.get('/plain').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/plain').set(BOB))).toBe(3);
    expect(left(await app.http.get('/plain'))).toBe(2);
  });

  it('has one counter for all routes of a user with by=user', async () => {
    const rules = { default: 'fixed-window,5,10,by=user' };
    const app = await start(adapter, {
      limits: byHeader(rules),
      controllers: [Plain, sameName('other', 'fixed-window,3,10')],
    });
    expect(left(await app.http.get('/plain').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/other').set(ALICE))).toBe(2);
    expect((await app.service.peek('alice', '/anything')).remaining).toBe(4);
  });

  it('reports two classes of one name in two modules of one name', async () => {
    const feature = (path: string): Type => {
      @Module({ controllers: [sameName(path)] })
      class FeatureModule {}
      return FeatureModule;
    };
    await expect(
      start(adapter, { limits: {}, imports: [feature('a'), feature('b')] }),
    ).rejects.toMatchObject({ code: 'PLACE_CONFLICT' });
  });
});

describe.each(ADAPTERS)('which rule wins on %s', (adapter) => {
  @SkipRateLimit()
  @Controller('skipped')
  class Skipped {
    @Get()
    get() {
      return {};
    }

    @RateLimit('fixed-window,5,10')
    @Get('but')
    but() {
      return {};
    }
  }

  @RateLimit('fixed-window,5,10')
  @Controller('limited')
  class Limited {
    @Get()
    get() {
      return {};
    }

    @RateLimit('fixed-window,3,10')
    @Get('more')
    more() {
      return {};
    }

    @SkipRateLimit()
    @Get('not')
    not() {
      return {};
    }
  }

  const controllers = [Skipped, Limited, Plain, DecoratedHandler];

  it('prefers the nearest decorator', async () => {
    const limits = byHeader(NINE, { always: 'fixed-window,100,10,by=user,name=all' });
    const { http } = await start(adapter, { limits, controllers });
    const seen: [string, number][] = [];
    for (const path of ['/skipped', '/skipped/but', '/limited', '/limited/more', '/limited/not']) {
      seen.push([path, left(await http.get(path).set(ALICE))]);
    }
    expect(seen).toEqual([
      ['/skipped', Number.NaN],
      ['/skipped/but', 4],
      ['/limited', 4],
      ['/limited/more', 2],
      ['/limited/not', Number.NaN],
    ]);
  });

  it('prefers decorator, user, api and default in this order', async () => {
    const rules = {
      default: 'fixed-window,9,10',
      api: { '/plain': 'fixed-window,8,10', '/decorated': 'fixed-window,8,10' },
      user: { vip: 'fixed-window,20,10' },
    };
    const { http } = await start(adapter, { limits: byHeader(rules), controllers });
    const ask = async (path: string, user: string) => {
      return left(await http.get(path).set({ 'x-user': user }));
    };
    expect(await ask('/plain', 'alice')).toBe(7);
    expect(await ask('/plain', 'vip')).toBe(19);
    expect(await ask('/decorated', 'alice')).toBe(4);
    expect(await ask('/decorated', 'vip')).toBe(4);
  });

  it('has small books for users', async () => {
    const vip = { default: 'fixed-window,20,10', api: { 'GET /plain': 'fixed-window,15,10' } };
    const rules = { ...NINE, user: { vip, guest: { api: { '/plain': 'fixed-window,1,10' } } } };
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Plain] });
    expect(left(await app.http.get('/plain').set({ 'x-user': 'vip' }))).toBe(14);
    expect(left(await app.http.get('/plain').set({ 'x-user': 'guest' }))).toBe(0);
    expect((await app.service.check('vip', '/else')).remaining).toBe(19);
    expect((await app.service.check('guest', '/else')).remaining).toBe(8);
  });

  it.each([
    ['default', { default: 'fixed-window,1,10,final=true' }],
    [
      'an api',
      {
        ...NINE,
        api: {
          '/skipped': 'fixed-window,1,10,final=true',
          '/limited/not': 'fixed-window,1,10,final=true',
          '/decorated': 'fixed-window,1,10,final=true',
        },
      },
    ],
    ['a user', { ...NINE, user: { alice: 'fixed-window,1,10,final=true' } }],
  ])('beats every decorator where the entry of %s is final', async (_, rules) => {
    const app = await start(adapter, { limits: byHeader(rules), controllers });
    expect(await statuses(app, 2, '/decorated', ALICE)).toEqual([200, 429]);
    expect(await statuses(app, 2, '/skipped', ALICE)).toEqual([200, 429]);
    expect(await statuses(app, 2, '/limited/not', ALICE)).toEqual([200, 429]);
  });

  it('leaves others alone where the entry of a user is final', async () => {
    const rules = { ...NINE, user: { alice: 'fixed-window,1,10,final=true' } };
    const app = await start(adapter, { limits: byHeader(rules), controllers });
    expect(left(await app.http.get('/decorated').set(BOB))).toBe(4);
    expect(left(await app.http.get('/skipped').set(BOB))).toBe(Number.NaN);
  });

  it('prefers the final entry of an api to that of a user which is not', async () => {
    const rules = {
      api: { '/plain': 'fixed-window,1,10,final=true' },
      user: { alice: 'fixed-window,20,10' },
    };
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Plain] });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
  });

  it('joins what always applies to each winner, and where nothing wins', async () => {
    const always = { flood: 'fixed-window,3,10,by=user', wide: 'fixed-window,50,10,by=ip' };
    const { http } = await start(adapter, { limits: byHeader({}, { always }), controllers });
    const plain = await http.get('/plain').set(ALICE);
    expect(plain.headers['ratelimit-policy']).toBe('"flood";q=3;w=10, "wide";q=50;w=10');
    const decorated = await http.get('/decorated').set(ALICE);
    expect(decorated.headers['ratelimit']).toBe(
      '"DecoratedHandler.get";r=4;t=5, "flood";r=1;t=5, "wide";r=48;t=5',
    );
  });

  it('counts @RateLimit(a, b) and a policy by name together', async () => {
    @Controller('several')
    class Several {
      @RateLimit('daily', 'fixed-window,5,10', {
        algorithm: 'fixed-window',
        limit: 3,
        window: '1m',
      })
      @Get(':id')
      get(@Param('id') id: string) {
        return { id };
      }
    }
    const rules = { policy: { daily: 'fixed-window,7,1d' } };
    const { http } = await start(adapter, { limits: byHeader(rules), controllers: [Several] });
    const response = await http.get('/several/1').set(ALICE);
    expect(response.headers['ratelimit-policy']).toBe(
      '"daily";q=7;w=86400, "Several.get";q=5;w=10, "Several.get-2";q=3;w=60',
    );
    expect(left(await http.get('/several/2').set(ALICE))).toBe(5);
  });
});

describe.each(ADAPTERS)('what can be decorated on %s', (adapter) => {
  it('takes text, objects, rules, policies and lists, also within another decorator', async () => {
    const Limited = (path: string, ...rules: string[]) =>
      applyDecorators(Get(path), RateLimit(...rules));
    @Controller('forms')
    class Forms {
      @Limited('rule', Rule.parse('fixed-window,2,10') as never)
      rule() {
        return {};
      }

      @RateLimit(Policy.parse('fixed-window,2,10 & fixed-window,3,1m'), { limit: 9, window: 3600 })
      @Get('policy')
      policy() {
        return {};
      }

      @Get('list')
      @RateLimit(['fixed-window,2,10', { limit: 3, windowMillis: 60_000 }])
      list() {
        return {};
      }
    }
    const { http } = await start(adapter, { limits: byHeader({}), controllers: [Forms] });
    const policies: string[] = [];
    for (const path of ['/forms/rule', '/forms/policy', '/forms/list']) {
      policies.push((await http.get(path).set(ALICE)).headers['ratelimit-policy']!);
    }
    expect(policies).toEqual([
      '"Forms.rule";q=2;w=10',
      '"Forms.policy";q=2;w=10, "Forms.policy-2";q=3;w=60, "Forms.policy-3";q=9;w=3600',
      '"Forms.list";q=2;w=10, "Forms.list-2";q=3;w=60',
    ]);
  });

  it('limits streams, redirects and answers written by hand', async () => {
    @Controller('odd')
    class Odd {
      @Sse('stream')
      stream() {
        return of({ data: 'tea' });
      }

      @Redirect('/plain')
      @Get('elsewhere')
      elsewhere() {}

      @Get('by-hand')
      byHand(@Res() response: { send(text: string): void }) {
        response.send('tea');
      }
    }
    const limits = byHeader({ default: 'fixed-window,1,10' });
    const { http } = await start(adapter, { limits, controllers: [Odd] });
    for (const [path, status] of [
      ['/odd/stream', 200],
      ['/odd/elsewhere', 302],
      ['/odd/by-hand', 200],
    ] as const) {
      const allowed = await http.get(path).set(ALICE);
      expect([allowed.status, left(allowed)]).toEqual([status, 0]);
      const refused = await http.get(path).set(ALICE);
      expect(refused.status).toBe(429);
      expect(refused.headers['content-type']).toMatch(/^application\/json/);
      expect(refused.body.retryAfterMillis).toBe(5000);
    }
  });
});

describe.each(ADAPTERS)('what can be replaced on %s', (adapter) => {
  const controllers = [Plain, DecoratedHandler];

  it('asks another rule book', async () => {
    const book = RuleBook.of({ api: { '/plain': 'fixed-window,1,10' } });
    const app = await start(adapter, {
      limits: byHeader(NINE),
      controllers,
      override: (builder) => builder.overrideProvider(RuleBook).useValue(book),
    });
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
    expect((await app.service.peek('alice', '/plain')).remaining).toBe(0);
  });

  it('counts in another store', async () => {
    const store = new SlowStore(new MemoryStore());
    const app = await start(adapter, {
      limits: byHeader(TWO),
      controllers,
      override: (builder) => builder.overrideProvider(RateLimitStore).useValue(store),
    });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(store.decided).toBe(3);
    expect(app.logs.ofLimiter('log').join()).toContain('slow store');
  });

  it('hands another service to whoever injects it, and still closes the store', async () => {
    const stub = { check: async () => ({ allowed: false }) };
    const store = new SlowStore(new MemoryStore());
    @Injectable()
    class Mailer {
      constructor(@Inject(RateLimitService) readonly limits: RateLimitService) {}
    }
    const { app } = await start(adapter, {
      limits: byHeader({}, { guard: false, store } as object),
      providers: [Mailer],
      override: (builder) => builder.overrideProvider(RateLimitService).useValue(stub),
    });
    expect(app.get(Mailer).limits).toBe(stub);
    await app.close();
    expect(store.closed).toBe(1);
  });

  it('hands another factory to whoever injects it', async () => {
    const stub = { create: () => 'stub' };
    @Injectable()
    class Mailer {
      constructor(@Inject(LimiterFactory) readonly limiters: LimiterFactory) {}
    }
    const { app } = await start(adapter, {
      limits: byHeader({}),
      providers: [Mailer],
      override: (builder) => builder.overrideProvider(LimiterFactory).useValue(stub),
    });
    expect(app.get(Mailer).limiters).toBe(stub);
  });

  it('moves the limiters of the factory with the clock', async () => {
    const { app, clock } = await start(adapter, { limits: byHeader({}), controllers });
    const limiter = app.get(LimiterFactory, { strict: false }).create('token-bucket,1,10');
    expect(limiter.tryAcquire().allowed).toBe(true);
    expect(limiter.tryAcquire().retryAfterMillis).toBe(10_000);
    clock.advance(10_000);
    expect(limiter.tryAcquire().allowed).toBe(true);
  });

  it('is not disturbed by a clock that is set back', async () => {
    const app = await start(adapter, { limits: byHeader(TWO), controllers });
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    app.clock.set(app.clock.nowMillis() - 3_600_000);
    const refused = await app.http.get('/plain').set(ALICE);
    expect(refused.status).toBe(429);
    expect(refused.body.retryAfterMillis).toBe(5000);
    app.clock.advance(5000);
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([200]);
  });
});

describe.each(ADAPTERS)('the refusal on %s', (adapter) => {
  it('is an exception that filters see, with decision, policy and hint', async () => {
    const seen: RateLimitExceededException[] = [];
    @Catch(RateLimitExceededException)
    class TeapotFilter implements ExceptionFilter<RateLimitExceededException> {
      catch(exception: RateLimitExceededException, host: ArgumentsHost) {
        seen.push(exception);
        const response = host.switchToHttp().getResponse();
        const body = { later: exception.retryAfterMillis };
        if (adapter === 'express') response.status(418).json(body);
        else response.status(418).send(body);
      }
    }
    const { http } = await start(adapter, {
      limits: byHeader(TWO),
      controllers: [Plain],
      providers: [{ provide: APP_FILTER, useClass: TeapotFilter }],
    });
    for (let i = 0; i < 2; i++) await http.get('/plain').set(ALICE);
    const traceLimit = Error.stackTraceLimit;
    const response = await http.get('/plain').set(ALICE);
    expect(response.status).toBe(418);
    expect(response.body).toEqual({ later: 5000 });
    expect(response.headers['retry-after']).toBe('5');
    expect(seen).toHaveLength(1);
    const [exception] = seen;
    expect(exception).toBeInstanceOf(RateLimitExceededException);
    expect(exception!.getStatus()).toBe(429);
    expect(exception!.policy).toBe('default');
    expect(exception!.retryAfterMillis).toBe(5000);
    expect(exception!.decision).toMatchObject({ allowed: false, reason: 'quota', limit: 2 });
    expect(exception!.stack ?? '').not.toMatch(/\n\s+at /);
    expect(Error.stackTraceLimit).toBe(traceLimit);
    expect(traceLimit).toBeGreaterThan(0);
  });

  it('stops the handler and the guards behind it', async () => {
    const ran: string[] = [];
    @Injectable()
    class Later implements CanActivate {
      canActivate() {
        ran.push('guard');
        return true;
      }
    }
    @Controller('stopped')
    class Stopped {
      @RateLimit('fixed-window,1,10')
      @UseGuards(Later)
      @Post()
      post() {
        ran.push('handler');
      }
    }
    const app = await start(adapter, { limits: {}, controllers: [Stopped] });
    expect(await statuses(app, 2, '/stopped', {}, 'post')).toEqual([201, 429]);
    expect(ran).toEqual(['guard', 'handler']);
  });
});

describe('contexts of no transport that is known', () => {
  const contextOf = (type: string) => {
    const context = new ExecutionContextHost([{ some: 'data' }, {}], Plain, Plain.prototype.get);
    context.setType(type);
    return context as ExecutionContext;
  };

  it('are let through, with one warning for each type', async () => {
    const { app, logs } = await start('express', { limits: byHeader(TWO), controllers: [Plain] });
    const guard = app.get(RateLimitGuard, { strict: false });
    for (let i = 0; i < 5; i++) expect(guard.canActivate(contextOf('telegram'))).toBe(true);
    expect(logs.warnings('telegram')).toHaveLength(1);
    expect(guard.canActivate(contextOf('rabbitmq'))).toBe(true);
    expect(guard.canActivate(contextOf('rabbitmq'))).toBe(true);
    expect(logs.warnings('rabbitmq')).toHaveLength(1);
    expect(logs.warnings()).toHaveLength(2);
  });

  it('are not told of where the module is off', async () => {
    const limits = byHeader(TWO, { mode: 'off' });
    const { app, logs } = await start('express', { limits, controllers: [Plain] });
    expect(app.get(RateLimitGuard, { strict: false }).canActivate(contextOf('ws'))).toBe(true);
    expect(logs.warnings()).toEqual([]);
  });
});
