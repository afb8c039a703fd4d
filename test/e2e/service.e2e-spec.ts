import { Controller, Get, Post } from '@nestjs/common';
import {
  type DecisionEvent,
  MemoryStore,
  Policy,
  RateLimit,
  RateLimitConfigError,
  type RateLimitService,
  Rule,
  SkipRateLimit,
} from 'nestjs-doorman';
import { ADAPTERS, byHeader, left, SlowStore, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };
const BOB = { 'x-user': 'bob' };
const LOCAL = { dimensions: { ip: '127.0.0.1' } };
const NINE = { default: 'fixed-window,9,10' };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @Post('plain')
  post() {
    return {};
  }

  @Get('plain/:id')
  one() {
    return {};
  }

  @RateLimit('fixed-window,5,10')
  @Get('orders')
  list() {
    return [];
  }

  @RateLimit('fixed-window,3,10', 'fixed-window,50,1h,name=hourly')
  @Post('orders')
  order() {
    return {};
  }

  @SkipRateLimit()
  @Get('health')
  health() {
    return {};
  }
}

const serve = (limits: object = byHeader(NINE)) =>
  start('express', { limits, controllers: [Shop] });

async function serviceOf(limits?: object): Promise<RateLimitService> {
  return (await serve(limits)).service;
}

describe.each(ADAPTERS)('the service and the guard on %s', (adapter) => {
  const open = (rules: unknown, more: object = {}) =>
    start(adapter, { limits: byHeader(rules, more), controllers: [Shop] });

  it('spend from the same counter', async () => {
    const { http, service } = await open(NINE);
    expect(left(await http.get('/plain').set(ALICE))).toBe(8);
    expect((await service.check('alice', '/plain')).remaining).toBe(7);
    expect(service.checkSync('alice', 'POST /plain').remaining).toBe(6);
    expect(left(await http.post('/plain').set(ALICE))).toBe(5);
    expect((await service.check('alice', '/plain', { cost: 5 })).remaining).toBe(0);
    expect((await http.get('/plain').set(ALICE)).status).toBe(429);
  });

  it('find the same rule by method and user', async () => {
    const rules = {
      ...NINE,
      api: { 'POST /plain': 'fixed-window,4,10' },
      user: { vip: 'fixed-window,20,10' },
    };
    const { http, service } = await open(rules);
    expect(left(await http.post('/plain').set(ALICE))).toBe(3);
    expect((await service.check('alice', 'post /plain')).remaining).toBe(2);
    expect((await service.check('alice', '/plain')).remaining).toBe(8);
    expect(left(await http.get('/plain').set({ 'x-user': 'vip' }))).toBe(19);
    expect((await service.check('vip', '/plain')).remaining).toBe(18);
    expect((await service.check('vip', 'POST /plain')).remaining).toBe(17);
  });

  it('count who is not signed in at the same address', async () => {
    const { http, service } = await open(NINE);
    expect(left(await http.get('/plain'))).toBe(8);
    expect((await service.check(undefined, '/plain', LOCAL)).remaining).toBe(7);
    const mapped = { dimensions: { ip: '::ffff:127.0.0.1' } };
    expect((await service.check(undefined, '/plain', mapped)).remaining).toBe(6);
    expect((await service.check('127.0.0.1', '/plain')).remaining).toBe(8);
    expect(left(await http.get('/plain'))).toBe(5);
  });

  it('count a template for all its values, and no path for a template', async () => {
    const { http, service } = await open(NINE);
    expect(left(await http.get('/plain/1').set(ALICE))).toBe(8);
    expect((await service.check('alice', '/plain/:id')).remaining).toBe(7);
    expect((await service.check('alice', '/plain/1')).remaining).toBe(8);
  });

  it('answer with a decision that says the same as the headers', async () => {
    const { http, service } = await open({ default: 'token-bucket,5,10' });
    for (let i = 0; i < 5; i++) await http.get('/plain').set(ALICE);
    expect(await service.check('alice', '/plain')).toEqual({
      allowed: false,
      reason: 'quota',
      policy: 'default',
      limit: 5,
      windowMillis: 10_000,
      remaining: 0,
      retryAfterMillis: 2000,
      resetAfterMillis: 10_000,
      moreAfterMillis: 2000,
      rules: undefined,
    });
  });

  it('tell each decision once to whoever listens, and no peek', async () => {
    const { http, service } = await open({ default: 'fixed-window,2,10' });
    const events: DecisionEvent[] = [];
    const subscription = service.decisions$.subscribe((event) => events.push(event));
    await http.get('/plain/7').set(ALICE);
    await http.get('/plain/8').set(ALICE);
    await http.get('/plain/9').set(ALICE);
    await http.post('/orders');
    await service.check('bob', 'mail', { cost: 2 });
    service.checkSync('bob', 'POST /mail', { policy: 'fixed-window,7,10' });
    await service.peek('alice', '/plain');
    await service.reset('alice', '/plain');
    expect(
      events.map(({ api, userId, address, cost, decision }) => {
        return [api, userId, address, cost, decision.allowed, decision.policy];
      }),
    ).toEqual([
      ['/plain/:id', 'alice', undefined, 1, true, 'default'],
      ['/plain/:id', 'alice', undefined, 1, true, 'default'],
      ['/plain/:id', 'alice', undefined, 1, false, 'default'],
      ['/orders', undefined, '127.0.0.1', 1, true, 'Shop.order'],
      ['mail', 'bob', undefined, 2, true, 'default'],
      ['/mail', 'bob', undefined, 1, true, 'inline'],
    ]);
    subscription.unsubscribe();
    await service.check('alice', '/plain');
    expect(events).toHaveLength(6);
  });

  it('tell every listener, and those that come late only what comes then', async () => {
    const { http, service } = await open(NINE);
    const counts = [0, 0];
    service.decisions$.subscribe(() => counts[0]!++);
    await http.get('/plain').set(ALICE);
    service.decisions$.subscribe(() => counts[1]!++);
    await http.get('/plain').set(ALICE);
    expect(counts).toEqual([2, 1]);
  });

  it('reset for the guard, that user and that api alone', async () => {
    const { http, service } = await open({ default: 'fixed-window,2,10' });
    const app = { http };
    for (const [path, headers] of [
      ['/plain', ALICE],
      ['/plain', BOB],
      ['/plain/1', ALICE],
      ['/plain', {}],
    ] as const) {
      expect(await statuses(app, 3, path, headers)).toEqual([200, 200, 429]);
    }
    await service.reset('alice', '/plain');
    expect(await statuses(app, 3, '/plain', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 1, '/plain', BOB)).toEqual([429]);
    expect(await statuses(app, 1, '/plain/1', ALICE)).toEqual([429]);
    expect(await statuses(app, 1, '/plain')).toEqual([429]);
    await service.reset(undefined, '/plain', LOCAL);
    expect(await statuses(app, 1, '/plain')).toEqual([200]);
    expect(await statuses(app, 1, '/plain', ALICE)).toEqual([429]);
    await service.reset('alice', 'GET /plain/:id');
    expect(await statuses(app, 1, '/plain/1', ALICE)).toEqual([200]);
  });

  it('reset decorated handlers, all of a template or the one of a method', async () => {
    const { http, service } = await open(NINE);
    const spend = async () => {
      const list = left(await http.get('/orders').set(ALICE));
      return [list, left(await http.post('/orders').set(ALICE))];
    };
    expect(await spend()).toEqual([4, 2]);
    expect(await spend()).toEqual([3, 1]);
    await service.reset('bob', '/orders');
    expect(await spend()).toEqual([2, 0]);
    await service.reset('alice', 'POST /orders');
    expect(await spend()).toEqual([1, 2]);
    await service.reset('alice', '/orders');
    expect(await spend()).toEqual([4, 2]);
  });

  it('peek at decorated handlers, all of a template or the one of a method', async () => {
    const { http, service } = await open(NINE);
    await http.get('/orders').set(ALICE);
    await http.post('/orders').set(ALICE);
    await http.post('/orders').set(ALICE);
    expect(await service.peek('alice', 'GET /orders')).toMatchObject({ limit: 5, remaining: 4 });
    const one = await service.peek('alice', 'POST /orders');
    expect(one.rules!.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['Shop.order', 1],
      ['hourly', 48],
    ]);
    const all = await service.peek('alice', '/orders');
    expect(all.remaining).toBe(1);
    expect(all.rules!.map(({ name }) => name).sort()).toEqual([
      'Shop.list',
      'Shop.order',
      'hourly',
    ]);
    expect((await service.peek('alice', '/health')).policy).toBe('unlimited');
  });
});

describe('check', () => {
  it('answers that nothing is limited where nothing applies', async () => {
    const service = await serviceOf({});
    const unlimited = {
      allowed: true,
      policy: 'unlimited',
      limit: Number.POSITIVE_INFINITY,
      remaining: Number.POSITIVE_INFINITY,
      retryAfterMillis: 0,
      resetAfterMillis: 0,
      moreAfterMillis: 0,
    };
    expect(await service.check('alice', 'mail')).toMatchObject(unlimited);
    expect(service.checkSync(undefined, '/orders', { cost: 1e9 })).toMatchObject(unlimited);
    expect(await service.peek('alice', 'mail')).toMatchObject(unlimited);
    await expect(service.reset('alice', 'mail')).resolves.toBeUndefined();
  });

  it.each([
    ['text', 'fixed-window,3,10'],
    ['an object', { algorithm: 'fixed-window', limit: 3, window: '10s' }],
    ['a Rule', Rule.parse('fixed-window,3,10')],
    ['a Policy', Policy.parse('fixed-window,3,10')],
    ['a list', ['fixed-window,3,10']],
    ['a name', 'three'],
  ] as const)('decides by a policy that is %s instead of the book', async (_, policy) => {
    const service = await serviceOf(byHeader({ ...NINE, policy: { three: 'fixed-window,3,10' } }));
    const options = { policy: policy as string };
    expect(await service.check('alice', 'mail', options)).toMatchObject({ limit: 3, remaining: 2 });
    expect(service.checkSync('alice', 'mail', options).remaining).toBe(1);
    expect((await service.peek('alice', 'mail', options)).remaining).toBe(1);
    expect((await service.check('bob', 'mail', options)).remaining).toBe(2);
    expect((await service.check('alice', 'other', options)).remaining).toBe(2);
    expect((await service.check('alice', 'mail')).remaining).toBe(8);
    await service.reset('alice', 'mail', options);
    expect((await service.check('alice', 'mail', options)).remaining).toBe(2);
    expect((await service.check('alice', 'mail')).remaining).toBe(7);
  });

  it('has one counter for a policy that is handed in as text, Rule or object', async () => {
    const service = await serviceOf({});
    const forms = [
      'fixed-window,9,10',
      'fixed-window, 9, 10s',
      { algorithm: 'fixed-window', limit: 9, windowMillis: 10_000 },
      Rule.parse('fixed-window,9,10'),
      Policy.parse('fixed-window,9,10'),
    ] as const;
    const seen: number[] = [];
    for (const policy of forms) {
      seen.push((await service.check('alice', 'mail', { policy: policy as string })).remaining);
    }
    expect(seen).toEqual([8, 7, 6, 5, 4]);
  });

  it('spends from the counter of a named policy what its decorated handlers spend', async () => {
    @Controller('search')
    class Search {
      @RateLimit('search')
      @Get()
      get() {
        return {};
      }
    }
    const { http, service } = await start('express', {
      limits: byHeader({ policy: { search: 'fixed-window,9,10' } }),
      controllers: [Search],
    });
    expect(left(await http.get('/search').set(ALICE))).toBe(8);
    const decision = await service.check('alice', '/search', { policy: 'search' });
    expect(decision).toMatchObject({ remaining: 7, policy: 'search' });
  });

  it.each([
    ['an unknown name', 'nobody', 'POLICY_UNKNOWN'],
    ['a faulty rule', 'fixed-window,0,10', 'RULE_LIMIT'],
    ['an empty text', '', 'RULE_SYNTAX'],
    ['an unknown dimension', 'fixed-window,2,10,by=tenant', 'RULE_DIMENSION'],
    ['a log that is too large', 'sliding-window,1001,1h', 'RULE_LOG_TOO_LARGE'],
    ['a Rule that is not available', Rule.parse('fixed-window,2,10,by=tenant'), 'RULE_DIMENSION'],
    ['an object without a limit', { window: 1 }, 'RULE_SYNTAX'],
  ])('refuses a policy that is %s, and takes nothing', async (_, policy, code) => {
    const service = await serviceOf(byHeader(NINE));
    const options = { policy: policy as string };
    await expect(service.check('alice', 'mail', options)).rejects.toThrow(RateLimitConfigError);
    await expect(service.check('alice', 'mail', options)).rejects.toMatchObject({ code });
    expect(() => service.checkSync('alice', 'mail', options)).toThrow(RateLimitConfigError);
    await expect(service.peek('alice', 'mail', options)).rejects.toMatchObject({ code });
    expect((await service.peek('alice', 'mail')).remaining).toBe(9);
  });

  it('refuses a policy whose rule has the name of another rule of the book', async () => {
    const service = await serviceOf(byHeader({ default: 'fixed-window,5,10,name=mine' }));
    const options = { policy: 'fixed-window,50,10,name=mine' };
    const code = 'NAME_CONFLICT';
    await expect(service.check('alice', 'mail', options)).rejects.toMatchObject({ code });
    expect((await service.check('alice', 'mail')).remaining).toBe(4);
  });

  it('spends all of joined rules or none', async () => {
    const service = await serviceOf({});
    const policy = 'fixed-window,3,10 & fixed-window,100,1m,name=minute';
    const names = async (cost: number) => {
      const { allowed, rules } = await service.check('alice', 'mail', { policy, cost });
      return [allowed, ...rules!.map(({ remaining }) => remaining)];
    };
    expect(await names(2)).toEqual([true, 1, 98]);
    expect(await names(2)).toEqual([false, 1, 98]);
    expect(await names(1)).toEqual([true, 0, 97]);
    expect(await names(0)).toEqual([true, 0, 97]);
  });

  it('refuses for ever what costs more than there can be, and takes nothing', async () => {
    const service = await serviceOf(byHeader(NINE));
    expect(await service.check('alice', 'mail', { cost: 10 })).toMatchObject({
      allowed: false,
      reason: 'never',
      retryAfterMillis: Number.POSITIVE_INFINITY,
      remaining: 9,
    });
    expect((await service.check('alice', 'mail', { cost: 9 })).remaining).toBe(0);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', {}, true])(
    'throws RangeError for a cost of %p, and takes nothing',
    async (given) => {
      const service = await serviceOf(byHeader(NINE));
      const cost = given as number;
      await expect(service.check('alice', 'mail', { cost })).rejects.toThrow(RangeError);
      await expect(service.peek('alice', 'mail', { cost })).rejects.toThrow(RangeError);
      expect(() => service.checkSync('alice', 'mail', { cost })).toThrow(RangeError);
      expect((await service.peek('alice', 'mail')).remaining).toBe(9);
      const free = await serviceOf({});
      await expect(free.check('alice', 'mail', { cost })).rejects.toThrow(RangeError);
    },
  );

  it('counts by address what has no user, and by both where the rule says so', async () => {
    const rules = { default: 'fixed-window,3,10,by=ip & fixed-window,2,10,by=user' };
    const service = await serviceOf(byHeader(rules));
    const at = (ip: string) => ({ dimensions: { ip } });
    expect((await service.check('alice', 'mail', at('192.0.2.1'))).allowed).toBe(true);
    expect((await service.check('alice', 'mail', at('192.0.2.2'))).allowed).toBe(true);
    expect((await service.check('alice', 'mail', at('192.0.2.3'))).allowed).toBe(false);
    expect((await service.check('bob', 'mail', at('192.0.2.1'))).allowed).toBe(true);
    expect((await service.check('carol', 'mail', at('192.0.2.1:99'))).allowed).toBe(true);
    expect((await service.check('dave', 'mail', at('::ffff:192.0.2.1'))).allowed).toBe(false);
  });

  it('skips, with one warning, a rule for which neither value nor address is known', async () => {
    const rules = { default: 'fixed-window,3,10,by=ip & fixed-window,9,10,by=user' };
    const { service, logs } = await serve(byHeader(rules));
    for (let i = 0; i < 5; i++) {
      expect(await service.check('alice', 'mail')).toMatchObject({ limit: 9, remaining: 8 - i });
    }
    expect(logs.warnings('skipped')).toHaveLength(1);
    expect((await service.check(undefined, 'mail')).policy).toBe('unlimited');
  });

  it('says nothing of skipped rules where somebody only peeks or resets', async () => {
    const limits = byHeader(NINE, { always: 'fixed-window,99,10,by=ip,name=address' });
    const { service, logs } = await serve(limits);
    await service.peek('alice', '/plain');
    await service.reset('alice', '/plain');
    expect(logs.warnings()).toEqual([]);
  });

  it('lets exactly the limit in of many callers at once', async () => {
    const service = await serviceOf(
      byHeader({ default: 'fixed-window,100,10' }, { store: new SlowStore(new MemoryStore()) }),
    );
    const decisions = await Promise.all(
      Array.from({ length: 400 }, () => service.check('alice', 'mail')),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  it.each([
    ['token-bucket,7,10', 3],
    ['token-bucket,7,10,burst=20', 20],
    ['fixed-window,7,10', 3],
    ['sliding-window,7,10', 3],
    ['sliding-window-counter,7,10', 3],
    ['sliding-window-counter,7,10 & token-bucket,5,1m', 2],
  ])('gives a true hint for %s and a cost of %i', async (policy, cost) => {
    const { service, clock } = await serve({});
    const ask = (take: number) =>
      service.check('alice', 'mail', { policy: policy as string, cost: take });
    let { retryAfterMillis } = await ask(cost);
    for (let i = 0; i < 20 && retryAfterMillis === 0; i++) {
      clock.advance(37);
      ({ retryAfterMillis } = await ask(cost));
    }
    expect(retryAfterMillis).toBeGreaterThan(0);
    clock.advance(retryAfterMillis - 1);
    expect(await ask(cost)).toMatchObject({ allowed: false, retryAfterMillis: 1 });
    clock.advance(1);
    expect(await ask(cost)).toMatchObject({ allowed: true, retryAfterMillis: 0 });
  });
});

describe('checkSync', () => {
  it('throws TypeError, and leaves no promise behind, where the store answers by promise', async () => {
    const service = await serviceOf(byHeader(NINE, { store: new SlowStore(new MemoryStore()) }));
    expect(() => service.checkSync('alice', 'mail')).toThrow(TypeError);
    expect(() => service.checkSync('alice', 'mail')).toThrow(/slow/);
    expect((await service.check('alice', 'mail')).allowed).toBe(true);
  });

  it('takes nothing, or gives it back, where it throws for a store that answers by promise', async () => {
    const service = await serviceOf(byHeader(NINE, { store: new SlowStore(new MemoryStore()) }));
    const policy = `${NINE.default} & fixed-window,9,20,mode=shadow`;
    for (let i = 0; i < 20; i++) {
      expect(() => service.checkSync('alice', 'mail', { policy })).toThrow(TypeError);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { rules } = await service.explain('alice', 'mail', { policy });
    expect(rules.map(({ remaining }) => remaining)).toEqual([9, 9]);
  });

  it('throws TypeError, and leaves no promise behind, where the store fails', async () => {
    class BrokenStore extends SlowStore {
      override async decide(): Promise<never> {
        throw new Error('gone');
      }
    }
    const service = await serviceOf(byHeader(NINE, { store: new BrokenStore(new MemoryStore()) }));
    expect(() => service.checkSync('alice', 'mail')).toThrow(TypeError);
    expect(await service.check('alice', 'mail')).toMatchObject({ degraded: true });
  });
});

describe('peek', () => {
  it('takes nothing, however often it is asked', async () => {
    const service = await serviceOf(byHeader({ default: 'sliding-window,2,10' }));
    for (let i = 0; i < 50; i++) {
      expect(await service.peek('alice', 'mail')).toMatchObject({ allowed: true, remaining: 2 });
    }
    expect((await service.check('alice', 'mail')).remaining).toBe(1);
    expect((await service.check('alice', 'mail')).remaining).toBe(0);
    const answer = { allowed: false, remaining: 0, retryAfterMillis: 10_000 };
    expect(await service.peek('alice', 'mail')).toMatchObject(answer);
    expect(await service.peek('alice', 'mail', { cost: 0 })).toMatchObject({ allowed: true });
  });
});

describe('reset', () => {
  it('leaves what all share alone', async () => {
    const service = await serviceOf(byHeader({ default: 'fixed-window,5,10,by=global' }));
    await service.check('alice', 'mail');
    await service.reset('alice', 'mail');
    expect((await service.check('alice', 'mail')).remaining).toBe(3);
  });

  it('leaves an address alone that is not named', async () => {
    const limits = byHeader(NINE, { always: 'fixed-window,99,10,by=ip,name=address' });
    const service = await serviceOf(limits);
    await service.check('alice', 'mail', LOCAL);
    await service.reset('alice', 'mail');
    const { rules } = await service.check('alice', 'mail', LOCAL);
    expect(rules!.map(({ remaining }) => remaining)).toEqual([8, 97]);
  });

  it('covers a counter that is for all apis of the user', async () => {
    const service = await serviceOf(byHeader({ default: 'fixed-window,5,10,by=user' }));
    await service.check('alice', 'mail');
    await service.reset('alice', 'other');
    expect((await service.check('alice', 'mail')).remaining).toBe(4);
  });

  it('waits for a store that answers by promise', async () => {
    const store = new SlowStore(new MemoryStore());
    const service = await serviceOf(byHeader(NINE, { store }));
    await service.check('alice', 'mail');
    await service.reset('alice', 'mail');
    expect((await service.check('alice', 'mail')).remaining).toBe(8);
  });
});

describe('ids', () => {
  const long = 'x'.repeat(10_000);
  const IDS = [
    '',
    ' ',
    'alice',
    'Alice',
    'alice ',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'undefined',
    'null',
    '0',
    '\0',
    '@',
    '@127.0.0.1',
    '=',
    '=@127.0.0.1',
    '127.0.0.1',
    '5:alice',
    'a|b',
    'a',
    'a:b',
    'alice4:mail',
    long,
    `${long}y`,
    `y${long}`,
    '\ud800',
    '\ud801',
    '\udc00',
    '\ufffd',
    '\ud83d\ude00',
    'é',
    'e\u0301',
  ];

  it('never meet, whatever text they are', async () => {
    const service = await serviceOf({ rules: { default: 'fixed-window,1,10' } });
    for (const id of IDS) {
      expect([id.slice(0, 20), (await service.check(id, 'mail')).allowed]).toEqual([
        id.slice(0, 20),
        true,
      ]);
    }
    for (const id of IDS) expect((await service.check(id, 'mail')).allowed).toBe(false);
    expect((await service.check(undefined, 'mail', LOCAL)).allowed).toBe(true);
    await service.reset('__proto__', 'mail');
    for (const id of IDS) {
      expect((await service.peek(id, 'mail')).allowed).toBe(id === '__proto__');
    }
  });

  it('never meet as apis either', async () => {
    const service = await serviceOf({ rules: { default: 'fixed-window,1,10' } });
    for (const api of IDS) expect((await service.check('alice', api)).allowed).toBe(true);
    for (const api of IDS) expect((await service.check('alice', api)).allowed).toBe(false);
  });

  it('never meet in pairs of user and api', async () => {
    const service = await serviceOf({ rules: { default: 'fixed-window,1,10' } });
    const pairs = [
      ['a|b', 'c'],
      ['a', 'b|c'],
      ['a', '|bc'],
      ['ab', 'c'],
      ['a', 'bc'],
      ['', 'abc'],
      ['abc', ''],
      ['1:a', '1:b'],
      ['1:a1', ':b'],
    ] as const;
    for (const [user, api] of pairs) {
      expect((await service.check(user, api)).allowed).toBe(true);
    }
  });

  it('have rules of their own in the book, whatever text they are', async () => {
    const user = Object.fromEntries(IDS.map((id, i) => [id, `fixed-window,${i + 2},10`]));
    const service = await serviceOf({ rules: { default: 'fixed-window,1,10', user } });
    for (const [i, id] of IDS.entries()) {
      expect((await service.check(id, 'mail')).limit).toBe(i + 2);
    }
    expect((await service.check('valueOf', 'mail')).limit).toBe(1);
  });
});
