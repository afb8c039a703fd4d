import { Controller, Get, Post } from '@nestjs/common';
import { RateLimit, type RateLimitService, SkipRateLimit } from 'nestjs-doorman';
import { byHeader, start, statuses, userOf } from './support.js';

@Controller()
class Orders {
  @Get('orders')
  list() {
    return {};
  }

  @RateLimit('fixed-window,2,10')
  @Post('orders')
  create() {
    return {};
  }

  @RateLimit('search')
  @Get(['search', 'find'])
  search() {
    return {};
  }

  @SkipRateLimit()
  @Get('health')
  health() {
    return {};
  }
}

@RateLimit('fixed-window,6,10', 'fixed-window,60,1h,by=user')
@Controller('bills')
class Bills {
  @Get()
  list() {
    return {};
  }

  @RateLimit('fixed-window,1,10,name=pay,mode=shadow')
  @Post(':id')
  pay() {
    return {};
  }
}

const controllers = [Orders, Bills];
const RULES = {
  default: 'fixed-window,5,10',
  api: { '/orders': 'token-bucket,4,10,burst=8', report: 'fixed-window,3,10,by=api' },
  user: { vip: { default: 'fixed-window,9,10', api: { mail: 'fixed-window,8,10,final=true' } } },
  tier: { pro: 'fixed-window,7,10' },
  policy: { search: 'sliding-window,6,10' },
};

/** At 5 s of a box of 10 s. */
const open = (more: object = {}, rules: object = RULES) =>
  start('express', { controllers, limits: byHeader(rules, more) });

/** A rule of which nothing was taken, or so much. */
function rule(policy: string, text: string, place: string, limit: number, more: object = {}) {
  return {
    policy,
    rule: text,
    place,
    by: ['user', 'api'],
    mode: 'enforce',
    countedBy: { user: 'alice', api: 'mail' },
    allowed: true,
    reason: undefined,
    limit,
    remaining: limit,
    retryAfterMillis: 0,
    resetAfterMillis: 0,
    ...more,
  };
}

function explanation(rules: readonly object[], more: object = {}) {
  return {
    userId: 'alice',
    address: undefined,
    api: 'mail',
    mode: 'enforce',
    tier: undefined,
    allowed: true,
    clearsAfterMillis: 0,
    rules,
    ...more,
  };
}

describe('the explanation', () => {
  it('of the default says what is left, and when it clears', async () => {
    const { service } = await open();
    const place = ['default', 'fixed-window,5,10s', 'default', 5] as const;
    expect(await service.explain('alice', 'mail')).toEqual(explanation([rule(...place)]));
    await service.check('alice', 'mail', { cost: 3 });
    const some = rule(...place, { remaining: 2, resetAfterMillis: 5000 });
    for (let i = 0; i < 2; i++) {
      expect(await service.explain('alice', 'mail')).toEqual(explanation([some])); // takes nothing
    }
    await service.check('alice', 'mail', { cost: 2 });
    const used = { allowed: false, reason: 'quota', remaining: 0, resetAfterMillis: 5000 };
    expect(await service.explain('alice', 'mail')).toEqual(
      explanation([rule(...place, { ...used, retryAfterMillis: 5000 })], {
        allowed: false,
        clearsAfterMillis: 5000,
      }),
    );
  });

  it("of a user's rules names the user, and the last word where it is one", async () => {
    const { service } = await open();
    const vip = { userId: 'vip' };
    const countedBy = { user: 'vip', api: 'other' };
    expect(await service.explain('vip', 'other')).toEqual(
      explanation([rule('user:vip', 'fixed-window,9,10s', 'user:vip', 9, { countedBy })], {
        ...vip,
        api: 'other',
      }),
    );
    const text = 'fixed-window,8,10s,final=true';
    const place = 'user:vip.api.mail';
    expect(await service.explain('vip', 'mail')).toEqual(
      explanation([rule(place, text, place, 8, { countedBy: { user: 'vip', api: 'mail' } })], vip),
    );
  });

  it('of a tier says its name and its age', async () => {
    const { service, clock } = await open({ tierOf: () => 'pro' });
    await service.check('alice', 'mail');
    clock.advance(1200);
    const { rules, tier } = await service.explain('alice', 'mail');
    expect(tier).toEqual({ name: 'pro', ageMillis: 1200 });
    expect(rules).toEqual([
      rule('tier:pro', 'fixed-window,7,10s', 'tier:pro', 7, {
        remaining: 6,
        resetAfterMillis: 3800,
      }),
    ]);
    expect((await service.explain(undefined, 'mail', IP)).tier).toBeUndefined();
  });

  it('of rules that tierOf answered says those', async () => {
    const tierOf = () => ({ default: 'fixed-window,3,10', api: { mail: 'fixed-window,2,10' } });
    const { service } = await open({ tierOf });
    const { rules, tier } = await service.explain('alice', 'mail');
    expect(tier).toEqual({
      name: 'default = fixed-window,3,10s; api.mail = fixed-window,2,10s',
      ageMillis: 0,
    });
    expect(rules).toEqual([rule('tier', 'fixed-window,2,10s', 'tier.api.mail', 2)]);
  });

  it('of an api without a user counts by address, and by nothing where there is none', async () => {
    const { service } = await open();
    const nobody = { userId: undefined };
    expect(await service.explain(undefined, 'mail', IP)).toEqual(
      explanation(
        [
          rule('default', 'fixed-window,5,10s', 'default', 5, {
            countedBy: { ip: '192.0.2.1', api: 'mail' },
          }),
        ],
        { ...nobody, address: '192.0.2.1' },
      ),
    );
    const skipped = { countedBy: undefined, remaining: Number.POSITIVE_INFINITY };
    const all = Number.POSITIVE_INFINITY;
    expect(await service.explain(undefined, 'mail')).toEqual(
      explanation([rule('default', 'fixed-window,5,10s', 'default', all, skipped)], nobody),
    );
    expect((await service.explain(undefined, 'report')).rules).toEqual([
      rule('api:report', 'fixed-window,3,10s,by=api', 'api:report', 3, {
        by: ['api'],
        countedBy: { api: 'report' },
      }),
    ]);
  });

  it('of several handlers of one template names them all, of one method that one', async () => {
    const app = await open();
    await statuses(app, 3, '/orders', { 'x-user': 'alice' });
    await statuses(app, 3, '/orders', { 'x-user': 'alice' }, 'post');
    const countedBy = { user: 'alice', api: '/orders' };
    const book = rule('api:/orders', 'token-bucket,4,10s,burst=8', 'api:/orders', 8, {
      countedBy,
      remaining: 5,
      resetAfterMillis: 7500,
    });
    const place = 'RootTestModule/Orders.create';
    const decorated = rule('Orders.create', 'fixed-window,2,10s', place, 2, {
      countedBy,
      allowed: false,
      reason: 'quota',
      remaining: 0,
      retryAfterMillis: 5000,
      resetAfterMillis: 5000,
    });
    const whole = { api: '/orders', allowed: false, clearsAfterMillis: 5000 };
    const { service } = app;
    expect(await service.explain('alice', '/orders')).toEqual(
      explanation([book, decorated], whole),
    );
    expect(await service.explain('alice', 'POST /orders')).toEqual(explanation([decorated], whole));
    expect(await service.explain('alice', 'GET /orders')).toEqual(
      explanation([book], { api: '/orders' }),
    );
  });

  it('of decorators names the policy, the class, and what is skipped', async () => {
    const { service } = await open({ always: 'fixed-window,99,1m,by=ip' });
    const lines = async (api: string) =>
      (await service.explain('alice', api, IP)).rules.map(
        ({ policy, place, mode, countedBy }) =>
          `${policy} at ${place}, ${mode}, by ${JSON.stringify(countedBy)}`,
      );
    const always = 'always at always, enforce, by {"ip":"192.0.2.1"}';
    expect(await lines('/find')).toEqual([
      'search at policy:search, enforce, by {"user":"alice","api":"/find"}',
      always,
    ]);
    const bills = 'RootTestModule/Bills.list';
    expect(await lines('/bills')).toEqual([
      `Bills.list at ${bills}, enforce, by {"user":"alice","api":"/bills"}`,
      `Bills.list-2 at ${bills}, enforce, by {"user":"alice"}`,
      always,
    ]);
    expect(await lines('/bills/:id')).toEqual([
      'pay at RootTestModule/Bills.pay, shadow, by {"user":"alice","api":"/bills/:id"}',
      always,
    ]);
    expect(await service.explain('alice', '/health', IP)).toMatchObject({
      rules: [],
      allowed: true,
    });
  });

  it('of a block says so, and when it ends', async () => {
    const { service } = await open();
    await service.block('alice', 'mail', 60_000);
    expect(await service.explain('alice', 'mail')).toEqual(
      explanation(
        [
          rule('default', 'fixed-window,5,10s', 'default', 5, {
            allowed: false,
            reason: 'blocked',
            retryAfterMillis: 60_000,
          }),
        ],
        { allowed: false, clearsAfterMillis: 60_000 },
      ),
    );
  });

  it.each(['shadow', 'off'] as const)(
    'in mode %s refuses nobody, and says how it stands',
    async (mode) => {
      const { service } = await open({ mode });
      await service.block('alice', 'mail', 60_000);
      expect(await service.explain('alice', 'mail')).toMatchObject({
        mode,
        allowed: true,
        clearsAfterMillis: 0,
        rules: [{ allowed: false, reason: 'blocked' }],
      });
    },
  );

  it('never shows a secret', async () => {
    const dimensions = { key: { value: () => 'hunter2', secret: true }, tenant: () => 'acme' };
    const rules = { default: 'fixed-window,5,10,by=key+tenant' };
    const { service } = await open({ dimensions }, { ...rules, policy: RULES.policy });
    const given = { dimensions: { key: 'hunter2', tenant: 'acme' } };
    const said = await service.explain('alice', 'mail', given);
    expect(JSON.stringify(said)).not.toContain('hunter2');
    expect(said.rules[0]!.countedBy).toEqual({
      key: expect.stringMatching(/^[\w-]{22}$/),
      tenant: 'acme',
    });
    // Of what is not known the address stands in, and is shown as what it is.
    expect(
      (await service.explain('alice', 'mail', { dimensions: { ip: '192.0.2.1', tenant: 'acme' } }))
        .rules[0]!.countedBy,
    ).toEqual({
      ip: '192.0.2.1',
      tenant: 'acme',
    });
  });

  it('is of the policy that is handed in', async () => {
    const { service } = await open();
    const { rules } = await service.explain('alice', 'mail', { policy: 'fixed-window,4,10' });
    expect(rules).toEqual([rule('inline', 'fixed-window,4,10s', 'inline', 4)]);
  });
});

const IP = { dimensions: { ip: '192.0.2.1' } };

describe('the description', () => {
  const lines = (service: RateLimitService) =>
    service.describe().map(({ handler, route, skipped, limits, personal }) => {
      const all = limits.map(({ policy, rule: text, mode }) => `${policy}=${text} ${mode}`);
      return `${handler} ${route}${skipped ? ' skipped' : ''}${personal ? ' personal' : ''}: ${all.join(' & ')}`;
    });

  it('lists every handler once a route, with all that a caller meets', async () => {
    const { service } = await open();
    expect(service.describe()[0]).toEqual({
      handler: 'Orders.list',
      route: 'GET /orders',
      skipped: false,
      personal: true,
      limits: [
        {
          policy: 'api:/orders',
          rule: 'token-bucket,4,10s,burst=8',
          place: 'api:/orders',
          by: ['user', 'api'],
          mode: 'enforce',
        },
      ],
    });
    expect(lines(service)).toEqual([
      'Orders.list GET /orders personal: api:/orders=token-bucket,4,10s,burst=8 enforce',
      'Orders.create POST /orders personal: Orders.create=fixed-window,2,10s enforce',
      'Orders.search GET /search personal: search=sliding-window,6,10s enforce',
      'Orders.search GET /find personal: search=sliding-window,6,10s enforce',
      'Orders.health GET /health skipped personal: ',
      'Bills.list GET /bills personal: Bills.list=fixed-window,6,10s enforce & Bills.list-2=fixed-window,60,1h,by=user enforce',
      'Bills.pay POST /bills/:id personal: pay=fixed-window,1,10s,name=pay,mode=shadow shadow',
    ]);
  });

  it('is of the rules in force, and what is final limits what is skipped too', async () => {
    const { service } = await open();
    service.reload({
      policy: { search: 'fixed-window,1,10' },
      api: { '/health': 'fixed-window,2,10,final=true', '/search': 'fixed-window,3,10,final=true' },
    });
    expect(lines(service).slice(0, 5)).toEqual([
      'Orders.list GET /orders: ',
      'Orders.create POST /orders: Orders.create=fixed-window,2,10s enforce',
      'Orders.search GET /search: api:/search=fixed-window,3,10s,final=true enforce',
      'Orders.search GET /find: search=fixed-window,1,10s enforce',
      'Orders.health GET /health skipped: api:/health=fixed-window,2,10s,final=true enforce',
    ]);
  });

  it('tells that tiers may have other limits', async () => {
    const rules = { policy: RULES.policy };
    const { service } = await start('express', {
      controllers,
      limits: { user: userOf, rules, tierOf: () => undefined },
    });
    expect(service.describe().every(({ personal }) => personal)).toBe(true);
  });
});
