/* The option graphql.per: what counts is each call of a resolver, or all those of one operation. */
import { type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { Int, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { RateLimit, type RateLimitOptions } from 'nestjs-doorman';
import {
  admitted,
  type GraphqlParts,
  graphqlFaults,
  leftOf,
  leftOfAddress,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { req } = context.getArgByIndex(2);
    if (req.headers['x-token']) req.user = { id: req.headers['x-token'] };
    return true;
  }
}

@Resolver()
class ShopResolver {
  @RateLimit('fixed-window,3,1h')
  @Query(() => Int, { nullable: true })
  balance() {
    return 1;
  }

  @RateLimit('fixed-window,3,1h')
  @Mutation(() => Int, { nullable: true })
  pay() {
    return 1;
  }

  @UseGuards(TokenGuard)
  @RateLimit('fixed-window,3,1h')
  @Query(() => Int, { nullable: true })
  mail() {
    return 1;
  }

  @RateLimit('fixed-window,3,1h')
  @Subscription(() => Int, { nullable: true, resolve: (n: number) => n })
  async *ticks() {
    yield 1;
    yield 2;
  }
}

const ANN = { user: 'ann' };
const BY_ANN = { 'x-user': 'ann' };
const WITH_VARIABLES = `query ($yes: Boolean!) {
  a: balance @include(if: $yes) b: balance c: balance @include(if: $yes) d: balance
}`;
const FOUR = '{ a: balance b: balance c: balance d: balance }';

describe.each(SERVERS)('graphql.per, %s', (server) => {
  const open = (per: 'operation' | 'resolver' | undefined, parts: Partial<GraphqlParts> = {}) => {
    const limits: RateLimitOptions = { ...parts.limits, ...(per && { graphql: { per } }) };
    const own = { resolvers: [ShopResolver], providers: [TokenGuard] };
    return startGraphql(server, { ...own, ...parts, limits });
  };

  it.each(['resolver', undefined] as const)('%s counts each call of an operation', async (per) => {
    const app = await open(per);
    const answer = await app.ask(FOUR, ANN);
    expect([admitted(answer), refused(answer)]).toEqual([3, 1]);
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(0);
  });

  it('operation counts the calls of one resolver once, each resolver on its own', async () => {
    const app = await open('operation');
    const text = '{ a: balance b: balance c: balance d: balance mail x: mail }';
    expect(admitted(await app.ask(text, ANN))).toBe(6);
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(2);
    expect(await leftOf(app, 'ann', 'Query.mail')).toBe(2);
    expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(3);
  });

  it('operation admits as many operations as the limit, and refuses all calls of the next', async () => {
    const app = await open('operation');
    const decided: boolean[] = [];
    app.service.decisions$.subscribe(({ decision }) => decided.push(decision.allowed));
    for (let i = 0; i < 3; i++) expect(admitted(await app.ask(FOUR, ANN))).toBe(4);
    const fourth = await app.ask(FOUR, ANN);
    expect([admitted(fourth), refused(fourth)]).toEqual([0, 4]);
    expect(fourth.errors.map(({ path }) => path)).toEqual([['a'], ['b'], ['c'], ['d']]);
    expect(decided).toEqual([true, true, true, false]);
  });

  it('operation counts mutations, which run one after another, once too', async () => {
    const app = await open('operation');
    for (let i = 0; i < 3; i++)
      expect(admitted(await app.ask('mutation { a: pay b: pay c: pay }', ANN))).toBe(3);
    expect(refused(await app.ask('mutation { a: pay b: pay c: pay }', ANN))).toBe(3);
  });

  it('operation counts each operation of a batch', async () => {
    const app = await open('operation');
    const { body } = await app.post(
      [1, 2, 3, 4, 5].map(() => ({ query: FOUR })),
      BY_ANN,
    );
    expect(body.map(admitted)).toEqual([4, 4, 4, 0, 0]);
    for (let i = 0; i < 2; i++) {
      const again = await app.post([{ query: 'mutation { pay }' }], BY_ANN);
      expect(admitted(again.body[0])).toBe(1);
    }
    expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(1);
  });

  it('operation counts each one over a socket, and each subscription', async () => {
    const app = await open('operation');
    const client = app.connect();
    for (let i = 0; i < 3; i++) expect((await client.receive(FOUR)).errors).toEqual([]);
    expect(refused(await client.receive(FOUR))).toBe(4);
    for (let i = 0; i < 3; i++)
      expect((await client.receive('subscription { ticks }')).data).toHaveLength(2);
    expect(refused(await client.receive('subscription { ticks }'))).toBe(1);
  });

  it('operation counts each of those that run at once', async () => {
    const app = await open('operation');
    const all = await Promise.all(Array.from({ length: 10 }, () => app.ask(FOUR, ANN)));
    expect(all.map(admitted).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 4, 4, 4]);
  });

  it('operation charges the user whom a guard finds once, and gives the address its own back', async () => {
    const app = await open('operation', { limits: { user: undefined } });
    const text = '{ a: mail b: mail c: mail }';
    for (const token of ['ann', 'bob']) {
      for (const left of [2, 1, 0]) {
        expect(admitted(await app.ask(text, { headers: { 'x-token': token } }))).toBe(3);
        expect(await leftOf(app, token, 'Query.mail')).toBe(left);
      }
      expect(refused(await app.ask(text, { headers: { 'x-token': token } }))).toBe(3);
    }
    expect(await leftOfAddress(app, 'Query.mail')).toBe(3);
  });

  it.each([
    ['an object', { tenant: 'acme' }],
    ['a function that answers the same each time', () => SHARED],
  ])('operation counts each one where the context is %s', async (_, context) => {
    const app = await open('operation', { driver: { context } });
    for (let i = 0; i < 3; i++) expect(admitted(await app.ask(FOUR))).toBe(4);
    expect(refused(await app.ask(FOUR))).toBe(4);
  });

  it('anything else is a fault at the start', async () => {
    const limits = { graphql: { per: 'request' } } as never;
    const faults = await graphqlFaults(server, { limits, resolvers: [ShopResolver] });
    expect(faults).toEqual([
      expect.objectContaining({ code: 'OPTION_VALUE', place: 'option graphql' }),
    ]);
  });
});

describe.each(['resolver', 'operation'] as const)('graphql.per: %s, Mercurius', (per) => {
  it.each([
    ['without variables', FOUR, {}],
    ['with variables', WITH_VARIABLES, { yes: true }],
  ])('counts a query that was compiled, %s, as any other', async (_, query, variables) => {
    const limits: RateLimitOptions = { graphql: { per } };
    const driver = { jit: 1 };
    const app = await startGraphql('Mercurius', {
      limits,
      driver,
      resolvers: [ShopResolver],
      providers: [TokenGuard],
    });
    const counted: number[] = [];
    for (let i = 0; i < 5; i++) counted.push(admitted(await app.ask(query, { ...ANN, variables })));
    expect(counted).toEqual(per === 'operation' ? [4, 4, 4, 0, 0] : [3, 0, 0, 0, 0]);
  });
});

const SHARED = { tenant: 'acme' };
