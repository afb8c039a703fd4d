/* Which rules queries and mutations meet over GraphQL, and what a refusal looks like. */
import { Args, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { RateLimit } from 'nestjs-doorman';
import { admitted, leftOf, refused, SERVERS, startGraphql } from './graphql-app.js';

@Resolver()
class ShopResolver {
  @Query(() => Int, { nullable: true })
  orders(@Args('page', { type: () => Int, defaultValue: 1 }) page: number) {
    return page;
  }

  @RateLimit('fixed-window,2,1m,name=search')
  @Query(() => Int, { nullable: true })
  search() {
    return 7;
  }

  @RateLimit('fixed-window,1,1h,name=pay')
  @Mutation(() => Int, { nullable: true })
  pay() {
    return 1;
  }

  @Mutation(() => Int, { nullable: true, name: 'cancel' })
  cancelOrder() {
    return 1;
  }

  /** A query and a mutation may have the same name. */
  @Query(() => Int, { nullable: true, name: 'cancel' })
  whetherCancelled() {
    return 0;
  }

  @Query(() => Int)
  broken(): number {
    throw new Error('out of paper');
  }

  /** Not nullable, so that its refusal takes the whole of `data` along. */
  @RateLimit('fixed-window,1,1m')
  @Query(() => Int)
  strict() {
    return 1;
  }
}

const LIMITS = {
  rules: {
    default: 'fixed-window,3,1m',
    api: { 'Mutation.cancel': 'fixed-window,2,1h' },
  },
} as const;

describe.each(SERVERS)('GraphQL, %s', (server) => {
  const open = (limits: object = LIMITS, driver?: object) =>
    startGraphql(server, { limits, resolvers: [ShopResolver], driver });

  it('limits a query by the default, each field of the schema on its own', async () => {
    const app = await open();
    for (let i = 0; i < 3; i++)
      expect((await app.ask('{ orders }', { user: 'ann' })).data).toEqual({ orders: 1 });
    const fourth = await app.ask('{ orders }', { user: 'ann' });
    expect(fourth.data).toEqual({ orders: null });
    expect(refused(fourth)).toBe(1);
    expect(admitted(await app.ask('{ cancel }', { user: 'ann' }))).toBe(1);
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(0);
    expect(await leftOf(app, 'ann', 'Query.cancel')).toBe(2);
    expect(await leftOf(app, 'bob', 'Query.orders')).toBe(3);
  });

  it('limits a mutation by the decorator on it, and not by the default', async () => {
    const app = await open();
    expect(admitted(await app.ask('mutation { pay }', { user: 'ann' }))).toBe(1);
    expect(refused(await app.ask('mutation { pay }', { user: 'ann' }))).toBe(1);
    expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(0);
    expect(admitted(await app.ask('mutation { pay }', { user: 'bob' }))).toBe(1);
  });

  it('finds the entry of a mutation by its name in the schema, and not the query of that name', async () => {
    const app = await open();
    for (let i = 0; i < 2; i++)
      expect(admitted(await app.ask('mutation { cancel }', { user: 'ann' }))).toBe(1);
    const third = await app.ask('mutation { cancel }', { user: 'ann' });
    expect(third.errors[0]?.extensions).toMatchObject({ retryAfterMillis: 2_755_000 });
    for (let i = 0; i < 3; i++)
      expect(admitted(await app.ask('{ cancel }', { user: 'ann' }))).toBe(1);
    expect(refused(await app.ask('{ cancel }', { user: 'ann' }))).toBe(1);
  });

  it('has a rule for one user, and for one user at one mutation', async () => {
    const user = {
      ann: { default: 'fixed-window,1,1m', api: { 'Mutation.cancel': 'fixed-window,4,1m' } },
    };
    const app = await open({ rules: { ...LIMITS.rules, user } });
    const query = await app.ask('{ a: orders b: orders }', { user: 'ann' });
    expect([admitted(query), refused(query)]).toEqual([1, 1]);
    const five = await app.ask('mutation { a: cancel b: cancel c: cancel d: cancel e: cancel }', {
      user: 'ann',
    });
    expect([admitted(five), refused(five)]).toEqual([4, 1]);
  });

  it('tells in the error who refused and the moment from which it is allowed again', async () => {
    const app = await open();
    await app.ask('{ a: search b: search }');
    const answer = await app.ask('{ found: search }');
    expect(answer.status).toBe(200);
    expect(answer.errors).toEqual([
      {
        message: 'Too many requests, try again in 55 s',
        path: ['found'],
        locations: [{ line: 1, column: 3 }],
        extensions: expect.objectContaining({
          code: 'TOO_MANY_REQUESTS',
          policy: 'search',
          retryAfterMillis: 55_000,
        }),
      },
    ]);
    app.clock.advance(54_999);
    const early = await app.ask('{ search }');
    expect(early.errors[0]?.extensions).toMatchObject({ retryAfterMillis: 1 });
    app.clock.advance(1);
    expect((await app.ask('{ search }')).data).toEqual({ search: 7 });
  });

  it('shows no stack of a refusal, where one of an error of the program is shown', async () => {
    const app = await open();
    await app.ask('{ strict }');
    const answer = await app.ask('{ strict }');
    expect(answer.data).toBeNull();
    expect(refused(answer)).toBe(1);
    expect(answer.text).not.toMatch(/\bat \S+ \(|node_modules|\.[tj]s:\d/);
    const failed = await app.ask('{ broken }');
    expect(/\bat \S+ \(/.test(failed.text)).toBe(server !== 'Mercurius');
  });

  it('answers the other fields beside a refused one', async () => {
    const app = await open();
    const answer = await app.ask('{ a: search b: search c: search orders(page: 4) }');
    expect(answer.data).toEqual({ a: 7, b: 7, c: null, orders: 4 });
    expect(answer.errors.map(({ path }) => path)).toEqual([['c']]);
  });

  it('lists each policy that decided once in the headers, and has no Retry-After', async () => {
    const app = await open();
    const both = await app.ask('{ a: search b: search orders }');
    expect(both.headers.get('ratelimit-policy')).toBe('"search";q=2;w=60, "default";q=3;w=60');
    expect(both.headers.get('ratelimit')).toBe('"search";r=0;t=55, "default";r=2;t=55');
    const refusal = await app.ask('{ search }');
    expect(refusal.headers.get('ratelimit')).toBe('"search";r=0;t=55');
    expect(refusal.headers.get('retry-after')).toBeNull();
    expect((await app.ask('{ __typename }')).headers.get('ratelimit')).toBeNull();
  });

  it('takes nothing for introspection', async () => {
    const app = await open({ rules: { default: 'fixed-window,1,1m' } });
    const text =
      '{ __typename __schema { queryType { fields { name } } } __type(name: "Int") { kind } }';
    for (let i = 0; i < 3; i++) {
      const { data, errors } = await app.ask(text, { user: 'ann' });
      expect(data.__type).toEqual({ kind: 'SCALAR' });
      expect(errors).toEqual([]);
    }
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(1);
  });

  it.each([
    ['that does not parse', '{ orders ', {}],
    ['of a field that is not there', '{ orders nothing }', {}],
    ['with an argument of the wrong type', '{ orders(page: "one") }', {}],
    ['with a variable of the wrong type', 'query ($n: Int!) { orders(page: $n) }', { n: 'one' }],
    ['with a fragment in a circle', '{ orders ...F } fragment F on Query { orders ...F }', {}],
  ])('takes nothing for an operation %s', async (_, query, variables) => {
    const app = await open({ rules: { default: 'fixed-window,1,1m' } });
    for (let i = 0; i < 3; i++) {
      const { errors, data } = await app.ask(query, { user: 'ann', variables });
      expect(errors.length).toBeGreaterThan(0);
      expect(refused({ errors })).toBe(0);
      expect(data ?? null).toBeNull();
    }
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(1);
    expect(admitted(await app.ask('{ orders }', { user: 'ann' }))).toBe(1);
  });

  it('counts a query by GET and by POST on one counter', async () => {
    const app = await open();
    expect((await app.get('{ orders }', { user: 'ann' })).data).toEqual({ orders: 1 });
    expect((await app.ask('{ orders }', { user: 'ann' })).data).toEqual({ orders: 1 });
    const third = await app.get('{ orders }', { user: 'ann' });
    expect(third.headers.get('ratelimit')).toBe('"default";r=0;t=55');
    expect(refused(await app.get('{ orders }', { user: 'ann' }))).toBe(1);
    expect(refused(await app.ask('{ orders }', { user: 'ann' }))).toBe(1);
  });

  it('takes nothing for a mutation by GET, which the server does not carry out', async () => {
    const app = await open();
    const answer = await app.get('mutation { pay }', { user: 'ann' });
    expect(answer.status).toBe(405);
    expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(1);
  });
});
