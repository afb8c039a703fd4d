import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Post,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import {
  Clock,
  type DecisionEvent,
  MemoryStore,
  type Outcome,
  RateLimit,
  type RateLimitEvent,
  type RateLimitService,
  type StoreEntry,
} from 'nestjs-doorman';
import type request from 'supertest';
import { turn, WatchedClock } from '../core/waiting.js';
import { ADAPTERS, byHeader, SlowStore, START, start, statuses, valuesOf } from './support.js';

const ALICE = { 'x-user': 'alice' };
const ENFORCED = 'fixed-window,3,10';
const TRIED = 'fixed-window,1,10,name=tried,mode=shadow';

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('fixed-window,3,10', 'fixed-window,1,10,name=tried,mode=shadow')
  @Get('both')
  both() {
    return {};
  }

  @RateLimit('fixed-window,1,10,name=lone,mode=shadow')
  @Get('alone')
  alone() {
    return {};
  }

  @RateLimit(
    'fixed-window,9,10,name=bad',
    'fixed-window,2,10,name=worse,count=failures,mode=shadow',
  )
  @Post('login')
  @HttpCode(200)
  login(@Body() body: { password?: string }) {
    if (body.password !== 'sesame') throw new UnauthorizedException();
    return {};
  }

  @RateLimit('fixed-window,100,10,name=paid', 'fixed-window,20,10,name=thrift,mode=shadow', {
    cost: 10,
    settle: (_ctx, answer) => answer.tokens,
  })
  @Get('ask')
  ask() {
    return { tokens: 4 };
  }
}

const controllers = [Shop];

/** What is told, as lines. */
function listen({ events$, decisions$ }: RateLimitService) {
  const events: RateLimitEvent[] = [];
  const decisions: DecisionEvent[] = [];
  events$.subscribe((event) => events.push(event));
  decisions$.subscribe((event) => decisions.push(event));
  const wouldRefuse = () =>
    events.flatMap((event) =>
      event.type === 'would-refuse'
        ? [`${event.userId} ${event.api} ${event.decision.policy} ${event.decision.reason}`]
        : [],
    );
  const told = () =>
    decisions.map(({ decision, shadow }) => {
      const word = decision.allowed ? 'in' : 'out';
      return `${shadow ? 'shadow ' : ''}${decision.policy} ${word} ${decision.remaining}`;
    });
  return { events, decisions, wouldRefuse, told };
}

/** Status and all headers that a limiter may set. */
function shown(response: request.Response): unknown[] {
  const names = ['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Cache-Control'];
  return [response.status, ...names.map((name) => valuesOf(response, name))];
}

/** How a counter stands, in shadow mode or not. */
async function standings(service: RateLimitService, user: string | undefined, api: string) {
  const { rules } = await service.explain(user, api);
  return rules.map(({ policy, remaining }) => `${policy} ${remaining}`);
}

describe.each(ADAPTERS)('a rule in shadow mode on %s', (adapter) => {
  it('changes nothing that a caller can see', async () => {
    const alone = await start(adapter, { controllers, limits: byHeader({ default: ENFORCED }) });
    const tried = await start(adapter, {
      controllers,
      limits: byHeader({ default: `${ENFORCED} & ${TRIED}` }),
    });
    for (let i = 0; i < 5; i++) {
      const [one, other] = [
        await alone.http.get('/plain').set(ALICE),
        await tried.http.get('/plain').set(ALICE),
      ];
      expect(shown(other)).toEqual(shown(one));
      expect(other.body).toEqual(one.body);
      expect(one.status).toBe(i < 3 ? 200 : 429);
    }
  });

  it('tells what it would refuse, with its own decision', async () => {
    const app = await start(adapter, { controllers, limits: byHeader({}) });
    const { events, decisions, told } = listen(app.service);
    app.clock.advance(2000);
    expect(await statuses(app, 4, '/both', ALICE)).toEqual([200, 200, 200, 429]);
    const decision = {
      allowed: false,
      reason: 'quota',
      policy: 'tried',
      limit: 1,
      windowMillis: 10_000,
      remaining: 0,
      retryAfterMillis: 3000,
      resetAfterMillis: 3000,
      moreAfterMillis: 3000,
      rules: undefined,
    };
    const facts = { userId: 'alice', address: undefined, api: '/both' };
    const event = { type: 'would-refuse', decision, cost: 1, ...facts };
    expect(events).toEqual([event, event]);
    expect(told()).toEqual([
      'Shop.both in 2',
      'shadow tried in 0',
      'Shop.both in 1',
      'shadow tried out 0',
      'Shop.both in 0',
      'shadow tried out 0',
      'Shop.both out 0',
    ]);
    expect(decisions[1]).toMatchObject({ ...facts, cost: 1, shadow: true });
  });

  it('counts only what the enforced rules let in', async () => {
    const rules = { default: 'fixed-window,2,10 & fixed-window,9,1m,name=minute,mode=shadow' };
    const app = await start(adapter, { controllers, limits: byHeader(rules) });
    expect(await statuses(app, 5, '/plain', ALICE)).toEqual([200, 200, 429, 429, 429]);
    expect(await standings(app.service, 'alice', '/plain')).toEqual(['default 0', 'minute 7']);
  });

  it('is not disturbed by another one', async () => {
    const rules = {
      default: 'fixed-window,1,10,name=a,mode=shadow & fixed-window,3,10,name=b,mode=shadow',
    };
    const app = await start(adapter, { controllers, limits: byHeader(rules) });
    const { wouldRefuse } = listen(app.service);
    expect(await statuses(app, 4, '/plain', ALICE)).toEqual([200, 200, 200, 200]);
    expect(await standings(app.service, 'alice', '/plain')).toEqual(['a 0', 'b 0']);
    expect(wouldRefuse()).toEqual([
      'alice /plain a quota',
      'alice /plain a quota',
      'alice /plain a quota',
      'alice /plain b quota',
    ]);
  });

  it('that is alone sets no headers and refuses nobody', async () => {
    const app = await start(adapter, { controllers, limits: byHeader({}) });
    const { wouldRefuse } = listen(app.service);
    for (let i = 0; i < 3; i++) {
      expect(shown(await app.http.get('/alone').set(ALICE))).toEqual([200, [], [], [], []]);
    }
    expect(wouldRefuse()).toHaveLength(2);
  });

  it('counts failures, and those alone', async () => {
    const app = await start(adapter, { controllers, limits: byHeader({}) });
    const { wouldRefuse } = listen(app.service);
    const login = async (password: string) => {
      await app.http.post('/login').set(ALICE).send({ password });
      return (await standings(app.service, 'alice', '/login'))[1];
    };
    expect(await login('sesame')).toBe('worse 2');
    expect(await login('guess')).toBe('worse 1');
    expect(await login('sesame')).toBe('worse 1');
    expect(await login('guess')).toBe('worse 0');
    expect(wouldRefuse()).toEqual([]);
    expect(await login('guess')).toBe('worse 0');
    expect(wouldRefuse()).toEqual(['alice /login worse quota']);
  });

  it('is settled by what a request cost in the end', async () => {
    const app = await start(adapter, { controllers, limits: byHeader({}) });
    const { wouldRefuse } = listen(app.service);
    const lefts: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      await app.http.get('/ask').set(ALICE);
      lefts.push(await standings(app.service, 'alice', '/ask'));
    }
    expect(lefts).toEqual([
      ['paid 96', 'thrift 16'],
      ['paid 92', 'thrift 12'],
      ['paid 88', 'thrift 8'], // 10 are not there any more
      ['paid 84', 'thrift 8'],
    ]);
    expect(wouldRefuse()).toEqual(['alice /ask thrift quota']);
  });

  it('counts by tier as it would in force', async () => {
    const rules = { default: ENFORCED, tier: { pro: 'fixed-window,2,10,mode=shadow' } };
    const tierOf = (id: string) => (id === 'alice' ? 'pro' : undefined);
    const app = await start(adapter, { controllers, limits: byHeader(rules, { tierOf }) });
    const { wouldRefuse } = listen(app.service);
    expect(await statuses(app, 4, '/plain', ALICE)).toEqual([200, 200, 200, 200]);
    expect(await statuses(app, 4, '/plain', { 'x-user': 'bob' })).toEqual([200, 200, 200, 429]);
    expect(wouldRefuse()).toEqual(['alice /plain tier:pro quota', 'alice /plain tier:pro quota']);
  });

  it('is in force once its mode is, with what it counted', async () => {
    const book = (mode: string) => ({ default: `fixed-window,2,10,mode=${mode}` });
    const app = await start(adapter, { controllers, limits: byHeader(book('shadow')) });
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([200]);
    app.service.reload(book('enforce'));
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 429]);
    app.service.reload(book('shadow'));
    expect(await statuses(app, 2, '/plain', ALICE)).toEqual([200, 200]);
  });
});

describe.each(ADAPTERS)('a module in shadow mode on %s', (adapter) => {
  const rules = { default: 'fixed-window,2,10 & fixed-window,1,1m,name=minute', mode: 'shadow' };
  it.each([
    ['by its option', byHeader({ default: rules.default }, { mode: 'shadow' })],
    ['by its book', byHeader(rules)],
    ['by its book in text', byHeader(`default = ${rules.default}\nmode = shadow`)],
    ['by its book, whatever its option says', byHeader(rules, { mode: 'enforce' })],
  ])('refuses nobody, sets no headers and tells: %s', async (_, limits) => {
    const app = await start(adapter, { controllers, limits });
    const { events, wouldRefuse, decisions } = listen(app.service);
    for (let i = 0; i < 3; i++) {
      expect(shown(await app.http.get('/plain').set(ALICE))).toEqual([200, [], [], [], []]);
    }
    expect(wouldRefuse()).toEqual(['alice /plain minute quota', 'alice /plain minute quota']);
    // Joined as they would be in force: what the minute refuses spends nothing of the other.
    expect(events[0]).toMatchObject({ decision: { rules: [{ remaining: 1 }, { remaining: 0 }] } });
    expect(decisions.map(({ shadow }) => shadow)).toEqual([true, true, true]);
    expect(app.logs.ofLimiter('log')).toContainEqual(
      expect.stringContaining('mode shadow: nobody is refused'),
    );
  });

  it('tells nobody of a limit, whom a service asks for', async () => {
    const limits = byHeader({ default: 'fixed-window,1,10' }, { mode: 'shadow' });
    const { service } = await start(adapter, { controllers, limits });
    const { wouldRefuse } = listen(service);
    for (let i = 0; i < 3; i++) {
      expect(await service.check('alice', 'mail')).toMatchObject({ policy: 'unlimited' });
    }
    expect(await service.peek('alice', 'mail')).toMatchObject({ allowed: true });
    expect(service.checkSync('alice', 'mail').allowed).toBe(true);
    expect((await service.acquire('alice', 'mail')).allowed).toBe(true);
    expect((await service.check('bob', 'mail', { cost: 2 })).allowed).toBe(true);
    expect(wouldRefuse()).toEqual([
      ...Array(4).fill('alice mail default quota'),
      'bob mail default never',
    ]);
    const explained = await service.explain('alice', 'mail');
    expect(explained).toMatchObject({ mode: 'shadow', allowed: true, clearsAfterMillis: 0 });
    expect(explained.rules).toMatchObject([{ allowed: false, remaining: 0, mode: 'enforce' }]);
  });

  it('has nobody wait', async () => {
    const clock = new WatchedClock(START);
    const app = await start(adapter, {
      controllers,
      limits: byHeader({ default: 'token-bucket,1,5,wait=5s' }, { mode: 'shadow' }),
      override: (builder) => builder.overrideProvider(Clock).useValue(clock),
    });
    const { wouldRefuse } = listen(app.service);
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 200]);
    expect(clock.slept).toEqual([]);
    expect(wouldRefuse()).toHaveLength(2);
  });

  it('counts nothing and says nothing where it is off', async () => {
    const limits = byHeader({ default: 'fixed-window,1,10' }, { mode: 'off' });
    const app = await start(adapter, { controllers, limits });
    const { events, decisions } = listen(app.service);
    for (let i = 0; i < 3; i++) {
      expect(shown(await app.http.get('/plain').set(ALICE))).toEqual([200, [], [], [], []]);
    }
    expect((await app.service.check('alice', '/plain')).policy).toBe('unlimited');
    expect((await app.service.peek('alice', '/plain')).policy).toBe('unlimited');
    expect([events, decisions]).toEqual([[], []]);
    expect(await standings(app.service, 'alice', '/plain')).toEqual(['default 1']);
  });
});

/** Tells who asks, after the first door. */
class SignIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    request.user = request.headers['x-late'];
    return true;
  }
}

@UseGuards(SignIn)
@Controller()
class Late {
  @Get('late')
  late() {
    return {};
  }
}

describe.each(ADAPTERS)('a caller who is known at the second door, on %s', (adapter) => {
  const IP = { dimensions: { ip: '127.0.0.1' } };
  const open = (rules: object, more: object = {}) =>
    start(adapter, { controllers: [Late], limits: { rules, ...more } });
  const remaining = async (service: RateLimitService, user?: string) => {
    const { rules } = await service.explain(user, '/late', IP);
    return rules.map(({ policy, remaining: left }) => `${policy} ${left}`);
  };

  it('is counted by user in shadow mode too, and his address is given back', async () => {
    const rules = { default: `fixed-window,9,10 & fixed-window,2,10,name=tried,mode=shadow` };
    for (const [app, shown] of [
      [await open(rules), true],
      [await open(rules, { mode: 'shadow' }), false],
    ] as const) {
      const { wouldRefuse } = listen(app.service);
      for (let i = 0; i < 3; i++) {
        const response = await app.http.get('/late').set('x-late', 'alice');
        expect(response.status).toBe(200);
        const header = shown ? [`"default";r=${8 - i};t=5`] : [];
        expect(valuesOf(response, 'RateLimit')).toEqual(header);
      }
      expect(await remaining(app.service, 'alice')).toEqual(['default 6', 'tried 0']);
      expect(await remaining(app.service)).toEqual(['default 9', 'tried 2']);
      expect(wouldRefuse()).toEqual(['alice /late tried quota']);
    }
  });
});

describe('a rule in shadow mode', () => {
  const open = (rule: string, more: object = {}) =>
    start('express', { limits: byHeader({ default: rule }, more) });

  it('is committed and cancelled with what is reserved', async () => {
    const { service } = await open('fixed-window,9,10 & fixed-window,5,10,name=tried,mode=shadow');
    const first = await service.reserve('alice', 'mail', { cost: 4 });
    expect(await standings(service, 'alice', 'mail')).toEqual(['default 5', 'tried 1']);
    await first.commit(2);
    expect(await standings(service, 'alice', 'mail')).toEqual(['default 7', 'tried 3']);
    const second = await service.reserve('alice', 'mail', { cost: 4 });
    await second.cancel();
    expect(await standings(service, 'alice', 'mail')).toEqual(['default 7', 'tried 3']);
    expect(second.decision).toMatchObject({ allowed: true, policy: 'default', remaining: 3 });
  });

  it('is settled where it is alone, or the whole module is', async () => {
    const lone = await open('fixed-window,9,10,mode=shadow');
    const module = await open('fixed-window,9,10', { mode: 'shadow' });
    for (const { service } of [lone, module]) {
      const reservation = await service.reserve('alice', 'mail', { cost: 4 });
      expect(reservation.decision.policy).toBe('unlimited');
      expect(await standings(service, 'alice', 'mail')).toEqual(['default 5']);
      await reservation.commit(1);
      await reservation.cancel();
      expect(await standings(service, 'alice', 'mail')).toEqual(['default 8']);
    }
  });

  it('is settled too when it answers after the reservation was', async () => {
    const store = new HeldStore();
    const { service } = await open('fixed-window,9,10 & fixed-window,9,1m,name=tried,mode=shadow', {
      store,
    });
    for (const settle of ['commit', 'cancel'] as const) {
      const reservation = await service.reserve('alice', 'mail', { cost: 4 });
      await reservation[settle](1);
      store.release();
      await turn();
    }
    store.holds = false;
    expect(await standings(service, 'alice', 'mail')).toEqual(['default 8', 'tried 8']);
  });

  it('does not keep an answer waiting', async () => {
    const store = new HeldStore();
    const { service } = await open(`${ENFORCED} & ${TRIED}`, { store });
    const { told } = listen(service);
    expect(await service.check('alice', 'mail')).toMatchObject({ allowed: true, remaining: 2 });
    expect((await service.acquire('alice', 'mail')).remaining).toBe(1);
    expect(told()).toEqual(['default in 2', 'default in 1']);
    store.release();
    await turn();
    expect(told().slice(2)).toEqual(['shadow tried in 0', 'shadow tried out 0']);
  });

  it('lets nobody wait, and is asked for whoever waited', async () => {
    const { service, clock } = await open(
      'token-bucket,1,1 & fixed-window,1,1m,name=tried,mode=shadow',
    );
    const { wouldRefuse } = listen(service);
    await service.acquire('alice', 'mail');
    const second = service.acquire('alice', 'mail');
    await turn();
    expect(wouldRefuse()).toEqual([]);
    clock.advance(1000);
    expect((await second).allowed).toBe(true);
    expect(wouldRefuse()).toEqual(['alice mail tried quota']);
    const lone = await open('fixed-window,1,10,mode=shadow');
    for (let i = 0; i < 3; i++) {
      expect((await lone.service.acquire('alice', 'mail')).policy).toBe('unlimited');
    }
  });

  it('is left out of peek, and shown by explain', async () => {
    const { service } = await open(`${ENFORCED} & ${TRIED}`);
    for (let i = 0; i < 2; i++) await service.check('alice', 'mail');
    expect(await service.peek('alice', 'mail')).toMatchObject({
      allowed: true,
      remaining: 1,
      rules: undefined,
    });
    const { rules, ...whole } = await service.explain('alice', 'mail');
    expect(whole).toMatchObject({ mode: 'enforce', allowed: true, clearsAfterMillis: 0 });
    expect(rules).toMatchObject([
      { policy: 'default', mode: 'enforce', allowed: true, remaining: 1 },
      { policy: 'tried', mode: 'shadow', allowed: false, reason: 'quota', retryAfterMillis: 5000 },
    ]);
    const lone = await open('fixed-window,1,10,mode=shadow');
    await lone.service.check('alice', 'mail');
    expect((await lone.service.peek('alice', 'mail')).policy).toBe('unlimited');
  });

  it.each(['allow', 'deny', 'local'])(
    'says nothing while the store fails, with %s',
    async (how) => {
      const store = new SlowStore(new MemoryStore());
      const rule = `fixed-window,1,10,mode=shadow,onStoreError=${how}`;
      const { service, logs } = await open(rule, { store });
      const { events, decisions } = listen(service);
      store.decide = () => Promise.reject(new Error('no store'));
      for (let i = 0; i < 5; i++) {
        expect(await service.check('alice', 'mail')).toMatchObject({ allowed: true });
        await turn();
      }
      expect([events, decisions, service.utilisation()]).toEqual([[], [], []]);
      expect(logs.warnings('store failed')).toHaveLength(1);
      expect(logs.ofLimiter('error')).toEqual([]);
    },
  );

  it('is counted in the utilisation of its own name', async () => {
    const { service } = await open(`${ENFORCED} & ${TRIED}`, { warnAt: 1 });
    const { events } = listen(service);
    for (let i = 0; i < 2; i++) await service.check('alice', 'mail');
    expect(service.utilisation()).toEqual([
      { policy: 'default', decisions: 2, tenths: [0, 0, 0, 1, 0, 0, 1, 0, 0, 0] },
      { policy: 'tried', decisions: 2, tenths: [0, 0, 0, 0, 0, 0, 0, 0, 0, 2] },
    ]);
    expect(events.map(({ type }) => type)).toEqual(['near-limit', 'would-refuse']);
  });
});

/** Answers at once what is enforced, and what is tried when it is told to. */
class HeldStore extends SlowStore {
  holds = true;
  private readonly held: (() => void)[] = [];

  constructor() {
    super(new MemoryStore());
  }

  release(): void {
    for (const go of this.held.splice(0)) go();
  }

  override async decide(entries: readonly StoreEntry[], now: number): Promise<readonly Outcome[]> {
    const isTried = entries.some(({ counters }) =>
      counters.some(({ plan }) => plan.rule.mode === 'shadow'),
    );
    if (isTried && this.holds) await new Promise<void>((resolve) => this.held.push(resolve));
    return super.decide(entries, now);
  }
}
