/* Who calls over GraphQL, also where a guard of the resolver finds it out; each call counts once. */
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { RateLimit, RateLimitGuard, SkipRateLimit } from 'nestjs-doorman';
import {
  admitted,
  type GraphqlApp,
  type GraphqlParts,
  leftOf,
  leftOfAddress,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

/** Signs in by a header, later than our guard runs; some tokens are forged. */
@Injectable()
class TokenGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    const { req } = context.getArgByIndex(2);
    const token = req.headers['x-token'];
    if (token === 'forged') throw new UnauthorizedException('forged');
    if (token) req.user = { id: token };
    return true;
  }
}

@Resolver()
class OpenResolver {
  @Query(() => Int, { nullable: true })
  news() {
    return 1;
  }

  @UseGuards(TokenGuard)
  @Query(() => Int, { nullable: true })
  mail() {
    return 1;
  }

  @SkipRateLimit()
  @Query(() => Int, { nullable: true })
  health() {
    return 1;
  }
}

@UseGuards(TokenGuard)
@RateLimit('fixed-window,3,1h')
@Resolver()
class AccountResolver {
  @Query(() => Int, { nullable: true })
  balance() {
    return 1;
  }

  /** Our guard stands here by the module, by each decorator, and once more. */
  @UseGuards(RateLimitGuard, TokenGuard, RateLimitGuard)
  @RateLimit('fixed-window,3,1h')
  @Mutation(() => Int, { nullable: true })
  pay() {
    return 1;
  }
}

@SkipRateLimit()
@Resolver()
class SkippedResolver {
  @Query(() => Int, { nullable: true })
  ping() {
    return 1;
  }

  @RateLimit('fixed-window,2,1h')
  @Query(() => Int, { nullable: true })
  costly() {
    return 1;
  }
}

const SHARED = { tenant: 'acme' };

const LIMITS = { user: undefined, rules: { default: 'fixed-window,3,1h' } } as const;

describe.each(SERVERS)('Who calls, %s', (server) => {
  const open = (parts: Partial<GraphqlParts> = {}) =>
    startGraphql(server, {
      limits: LIMITS,
      resolvers: [OpenResolver, AccountResolver, SkippedResolver],
      providers: [TokenGuard],
      ...parts,
    });
  const as = (app: GraphqlApp, token: string, query: string) =>
    app.ask(query, { headers: { 'x-token': token } });

  it.each([
    ['of the method', '{ a: mail b: mail c: mail d: mail }', 'Query.mail'],
    ['of the class', '{ a: balance b: balance c: balance d: balance }', 'Query.balance'],
  ])('two users behind one address, told apart by a guard %s, share no counter', async (...row) => {
    const [, query, api] = row;
    const app = await open();
    for (const user of ['ann', 'bob']) {
      // Who asks in one operation more than the address holds is refused for that before he is known.
      const answer = await as(app, user, query);
      expect([admitted(answer), refused(answer)]).toEqual([3, 1]);
      expect(await leftOf(app, user, api)).toBe(0);
      expect(await leftOfAddress(app, api)).toBe(3);
      expect(refused(await as(app, user, query))).toBe(4);
      expect(await leftOfAddress(app, api)).toBe(3);
    }
    const stranger = await app.ask(query);
    expect([admitted(stranger), refused(stranger)]).toEqual([3, 1]);
    expect(await leftOfAddress(app, api)).toBe(0);
  });

  it('two users behind one address are told apart by a global guard that runs later', async () => {
    const app = await open({
      providers: [{ provide: APP_GUARD, useClass: TokenGuard }, TokenGuard],
    });
    for (const user of ['ann', 'bob']) {
      for (let i = 0; i < 3; i++) expect(admitted(await as(app, user, '{ news }'))).toBe(1);
      expect(refused(await as(app, user, '{ news }'))).toBe(1);
      expect(await leftOf(app, user, 'Query.news')).toBe(0);
    }
    expect(await leftOfAddress(app, 'Query.news')).toBe(3);
  });

  it('a user whom a guard finds has the rules that the book has for him', async () => {
    const rules = { ...LIMITS.rules, user: { ann: 'fixed-window,1,1h' } };
    const app = await open({ limits: { user: undefined, rules } });
    expect(admitted(await as(app, 'ann', '{ mail }'))).toBe(1);
    const second = await as(app, 'ann', '{ mail }');
    expect(second.errors[0]?.extensions).toMatchObject({ policy: 'user:ann' });
    expect(await leftOfAddress(app, 'Query.mail')).toBe(3);
    expect(admitted(await as(app, 'bob', '{ a: mail b: mail }'))).toBe(2);
  });

  it('whom the guard of a resolver turns away stays counted by address', async () => {
    const app = await open();
    for (let i = 0; i < 3; i++) {
      const answer = await as(app, 'forged', '{ mail }');
      expect([answer.errors[0]?.message, refused(answer)]).toEqual(['forged', 0]);
    }
    expect(refused(await as(app, 'forged', '{ mail }'))).toBe(1);
    expect(await leftOfAddress(app, 'Query.mail')).toBe(0);
  });

  it('a call counts once, however often the guard runs for it', async () => {
    const app = await open();
    for (const left of [2, 1, 0]) {
      const answer = await as(app, 'ann', 'mutation { pay }');
      expect(answer.data).toEqual({ pay: 1 });
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`;r=${left};`));
      expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(left);
    }
    expect(refused(await as(app, 'ann', 'mutation { pay }'))).toBe(1);
    expect(await leftOfAddress(app, 'Mutation.pay')).toBe(3);
  });

  it('a call counts once for one whom nobody finds out, too', async () => {
    const app = await open();
    const answer = await app.ask('mutation { a: pay b: pay c: pay d: pay }');
    expect([admitted(answer), refused(answer)]).toEqual([3, 1]);
    expect(await leftOfAddress(app, 'Mutation.pay')).toBe(0);
  });

  it('the headers tell of the user alone, once he is known', async () => {
    const app = await open();
    const answer = await as(app, 'ann', '{ mail }');
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3;w=3600');
    expect(answer.headers.get('ratelimit')).toBe('"default";r=2;t=2755');
  });

  it('what is skipped takes nothing, beside what is limited too', async () => {
    const app = await open();
    for (let i = 0; i < 5; i++) {
      const { data, headers } = await app.ask('{ a: health b: health c: ping d: ping }');
      expect(data).toEqual({ a: 1, b: 1, c: 1, d: 1 });
      expect(headers.get('ratelimit')).toBeNull();
    }
    const answer = await app.ask('{ health a: news b: news c: news d: news ping }');
    expect([admitted(answer), refused(answer)]).toEqual([5, 1]);
  });

  it('a decorator on a resolver beats the skip of its class', async () => {
    const app = await open();
    const answer = await app.ask('{ ping a: costly b: costly c: costly }');
    expect(answer.data).toEqual({ ping: 1, a: 1, b: 1, c: null });
    expect(await leftOfAddress(app, 'Query.costly')).toBe(0);
  });

  it('an entry that is final limits what is skipped', async () => {
    const rules = { ...LIMITS.rules, api: { 'Query.ping': 'fixed-window,1,1h,final=true' } };
    const app = await open({ limits: { user: undefined, rules } });
    expect((await app.ask('{ a: ping b: ping }')).data).toEqual({ a: 1, b: null });
  });

  it.each([
    ['an object', { tenant: 'acme' }],
    ['a function that answers the same each time', () => SHARED],
  ])('users are told apart where the context is %s', async (_, context) => {
    const user = (req: { headers: Record<string, string> }) => req.headers['x-user'];
    const app = await open({ limits: { ...LIMITS, user }, driver: { context } });
    for (const name of ['ann', 'bob', 'cid']) {
      const answer = await app.ask('{ a: news b: news }', { user: name });
      expect(admitted(answer)).toBe(2);
      expect(answer.headers.get('ratelimit')).toBe('"default";r=1;t=2755');
      expect(await leftOf(app, name, 'Query.news')).toBe(1);
    }
  });

  it('a resolver lets through what the option skip names', async () => {
    const skip = (context: ExecutionContext) =>
      context.getArgByIndex(2).req.headers['x-probe'] === 'yes';
    const app = await open({ limits: { ...LIMITS, skip } });
    const five = '{ a: news b: news c: news d: news e: news }';
    expect(admitted(await app.ask(five, { headers: { 'x-probe': 'yes' } }))).toBe(5);
    expect(await leftOfAddress(app, 'Query.news')).toBe(3);
    expect(admitted(await app.ask(five))).toBe(3);
  });
});
