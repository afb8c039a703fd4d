/* Ways to have more calls than the limit over GraphQL: none of them gives one more. */
import { createHash } from 'node:crypto';
import { Scope } from '@nestjs/common';
import { Args, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { RateLimit } from 'nestjs-doorman';
import {
  admitted,
  type GraphqlAnswer,
  leftOf,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

/** Who was served, in the order of that: what really ran, whatever the answers say. */
const ran: string[] = [];
beforeEach(() => {
  ran.length = 0;
});

@Resolver()
class ShopResolver {
  @RateLimit('fixed-window,3,1h')
  @Query(() => Int, { nullable: true })
  balance(@Args('of', { type: () => Int, defaultValue: 1 }) of: number) {
    ran.push('balance');
    return of;
  }

  @RateLimit('fixed-window,3,1h')
  @Mutation(() => Int, { nullable: true })
  pay(@Args('sum', { type: () => Int, defaultValue: 1 }) sum: number) {
    ran.push('pay');
    return sum;
  }

  @Mutation(() => Int, { nullable: true })
  free() {
    ran.push('free');
    return 1;
  }
}

/** Made anew for each request. */
@Resolver()
class FreshResolver {
  @RateLimit('fixed-window,3,1h')
  @Query(() => Int, { nullable: true })
  fresh() {
    ran.push('fresh');
    return 1;
  }
}
Reflect.defineMetadata('scope:options', { scope: Scope.REQUEST }, FreshResolver);

const ANN = { user: 'ann' };
const BY_ANN = { 'x-user': 'ann' };

/** Of the answers to a list of operations. */
function totals(answers: readonly GraphqlAnswer['body'][]): [number, number] {
  const each = answers.map(({ data, errors = [] }) => ({ data, errors }));
  const sum = (of: (one: (typeof each)[number]) => number) =>
    each.map(of).reduce((a, b) => a + b, 0);
  return [sum(admitted), sum(refused)];
}

describe.each(SERVERS)('What gives no call more than the limit, %s', (server) => {
  const open = () => {
    const limits = { rules: { default: 'fixed-window,100,1h' } } as const;
    return startGraphql(server, { limits, resolvers: [ShopResolver, FreshResolver] });
  };
  type App = Awaited<ReturnType<typeof open>>;

  /** Three of the calls ran, this many were refused, and nothing is left. */
  async function expectThree(app: App, api: string, answer: GraphqlAnswer, refusals: number) {
    expect([admitted(answer), refused(answer)]).toEqual([3, refusals]);
    expect(ran).toHaveLength(3);
    expect(await leftOf(app, 'ann', api)).toBe(0);
  }

  it('aliases of a mutation', async () => {
    const app = await open();
    const answer = await app.ask('mutation { a: pay b: pay c: pay d: pay(sum: 2) e: pay }', ANN);
    await expectThree(app, 'Mutation.pay', answer, 2);
    expect(answer.data).toEqual({ a: 1, b: 1, c: 1, d: null, e: null });
  });

  it('aliases of a query, which run side by side', async () => {
    const app = await open();
    const fields = Array.from({ length: 50 }, (_, i) => `q${i}: balance(of: ${i})`);
    await expectThree(app, 'Query.balance', await app.ask(`{ ${fields.join(' ')} }`, ANN), 47);
  });

  it('an alias that is the name of another field', async () => {
    const app = await open();
    const answer = await app.ask('mutation { free: pay pay: free x: pay y: pay z: pay }', ANN);
    expect([admitted(answer), refused(answer)]).toEqual([4, 1]);
    expect(ran).toEqual(['pay', 'free', 'pay', 'pay']);
    expect(await leftOf(app, 'ann', 'Mutation.free')).toBe(99);
  });

  it('a batch of operations in one request', async () => {
    const app = await open();
    const batch = Array.from({ length: 5 }, () => ({ query: 'mutation { pay }' }));
    const { body } = await app.post(batch, BY_ANN);
    expect(totals(body)).toEqual([3, 2]);
    expect(ran).toHaveLength(3);
    expect(await leftOf(app, 'ann', 'Mutation.pay')).toBe(0);
  });

  it('a batch of operations that have aliases each', async () => {
    const app = await open();
    const batch = Array.from({ length: 4 }, () => ({ query: '{ a: balance b: balance }' }));
    const { body } = await app.post(batch, BY_ANN);
    expect(totals(body)).toEqual([3, 5]);
    expect(ran).toHaveLength(3);
  });

  it('a batch of one operation again and again', async () => {
    const app = await open();
    for (let i = 0; i < 5; i++) await app.post([{ query: 'mutation { pay }' }], BY_ANN);
    expect(ran).toHaveLength(3);
  });

  it('named fragments, nested ones too', async () => {
    const app = await open();
    const text = `mutation { ...A ...B }
      fragment A on Mutation { a: pay ...B }
      fragment B on Mutation { b: pay c: pay ...C }
      fragment C on Mutation { d: pay }`;
    await expectThree(app, 'Mutation.pay', await app.ask(text, ANN), 1);
  });

  it('inline fragments, with a type and without', async () => {
    const app = await open();
    const text = '{ ... on Query { a: balance b: balance } ... { c: balance ... { d: balance } } }';
    await expectThree(app, 'Query.balance', await app.ask(text, ANN), 1);
  });

  it('fragments on the same field are one call and are counted as one', async () => {
    const app = await open();
    const text = `{ balance ...F ... on Query { balance } ...F }
      fragment F on Query { balance }`;
    expect((await app.ask(text, ANN)).data).toEqual({ balance: 1 });
    expect(ran).toHaveLength(1);
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(2);
  });

  it('@include and @skip: what runs is counted, what does not run is not', async () => {
    const app = await open();
    const query = `query ($yes: Boolean!, $no: Boolean!) {
      a: balance @include(if: $yes) b: balance @include(if: $no)
      c: balance @skip(if: $yes) d: balance @skip(if: $no)
      ... @include(if: $no) { e: balance } ... @skip(if: $no) { f: balance }
    }`;
    const variables = { yes: true, no: false };
    const answer = await app.ask(query, { ...ANN, variables });
    expect(answer.data).toEqual({ a: 1, d: 1, f: 1 });
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(0);
    const again = await app.ask(query, { ...ANN, variables });
    expect([admitted(again), refused(again)]).toEqual([0, 3]);
  });

  it('names of operations', async () => {
    const app = await open();
    for (const operationName of ['One', 'Two', '__proto__', 'IntrospectionQuery', 'Five']) {
      await app.ask(`mutation ${operationName} { pay }`, { ...ANN, operationName });
    }
    expect(ran).toHaveLength(3);
  });

  it('several operations in one document, of which one is named', async () => {
    const app = await open();
    const text = 'query Q { balance } mutation M { pay } mutation N { a: pay b: pay c: pay }';
    await app.ask(text, { ...ANN, operationName: 'M' });
    const answer = await app.ask(text, { ...ANN, operationName: 'N' });
    expect([admitted(answer), refused(answer)]).toEqual([2, 1]);
    expect(ran).toEqual(['pay', 'pay', 'pay']);
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(3);
  });

  it('other arguments, variables and spellings of one call', async () => {
    const app = await open();
    await app.ask('{ balance(of: 2) }', ANN);
    await app.ask('query ($n: Int!) { balance(of: $n) }', { ...ANN, variables: { n: 3 } });
    await app.ask('query{,balance( # a comment\n of :4)}', ANN);
    expect(refused(await app.ask('{ balance(of: 5) }', ANN))).toBe(1);
    expect(ran).toHaveLength(3);
  });

  it('by GET, by POST and over a socket, all on one counter', async () => {
    const app = await open();
    // By address: the client of the socket sends no header of its own.
    expect(admitted(await app.ask('{ balance }'))).toBe(1);
    expect(admitted(await app.get('{ balance }'))).toBe(1);
    const socket = app.connect();
    expect((await socket.receive('{ balance }')).data).toEqual([{ balance: 1 }]);
    const fourth = await socket.receive('{ a: balance b: balance }');
    expect(fourth.data).toEqual([{ a: null, b: null }]);
    expect(refused(fourth)).toBe(2);
    expect(refused(await app.ask('{ balance }'))).toBe(1);
    expect(refused(await app.get('{ balance }'))).toBe(1);
    expect(ran).toHaveLength(3);
  });

  it('a socket again and again, and many sockets', async () => {
    const app = await open();
    for (let i = 0; i < 4; i++) await app.connect().receive('mutation { pay }');
    const { data, errors } = await app.connect().receive('mutation { a: pay b: pay }');
    expect(data).toEqual([{ a: null, b: null }]);
    expect(refused({ errors })).toBe(2);
    expect(ran).toHaveLength(3);
  });

  it('a resolver that is made anew for each request', async () => {
    const app = await open();
    const answer = await app.ask('{ a: fresh b: fresh c: fresh d: fresh }', ANN);
    await expectThree(app, 'Query.fresh', answer, 1);
    expect(refused(await app.ask('{ fresh }', ANN))).toBe(1);
  });

  it('a burst of requests at once', async () => {
    const app = await open();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => app.ask('mutation { a: pay b: pay }', ANN)),
    );
    expect(totals(all)).toEqual([3, 37]);
    expect(ran).toHaveLength(3);
  });
});

describe.each(['Apollo on Express', 'Apollo on Fastify'] as const)(
  'What gives no call more than the limit, %s',
  (server) => {
    it('the hash of a query that the server keeps', async () => {
      const limits = { rules: { default: 'fixed-window,100,1h' } } as const;
      const app = await startGraphql(server, { limits, resolvers: [ShopResolver] });
      const query = '{ balance }';
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      const extensions = { persistedQuery: { version: 1, sha256Hash } };
      expect(admitted(await app.post({ query, extensions }, BY_ANN))).toBe(1);
      for (let i = 0; i < 2; i++) expect(admitted(await app.post({ extensions }, BY_ANN))).toBe(1);
      expect(refused(await app.post({ extensions }, BY_ANN))).toBe(1);
      expect(ran).toHaveLength(3);
    });
  },
);
