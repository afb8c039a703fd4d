/* With graphql.per operation: the calls that count each, since each has its own cost or end. */
import { Args, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { RateLimit, type RateLimitOptions } from 'nestjs-doorman';
import { admitted, leftOf, refused, SERVERS, startGraphql } from './graphql-app.js';

@Resolver()
class ShopResolver {
  @RateLimit('fixed-window,3,1h')
  @Query(() => Int, { nullable: true })
  balance() {
    return 1;
  }

  @RateLimit('fixed-window,3,1h,count=failures')
  @Mutation(() => Int, { nullable: true })
  login(@Args('password') password: string) {
    if (password !== 'sesame') throw new Error('wrong password');
    return 1;
  }

  /** Without a decorator. */
  @Query(() => Int, { nullable: true })
  count(@Args('n', { type: () => Int }) n: number) {
    if (n === 0) throw new Error('nothing to count');
    return n;
  }

  @RateLimit('fixed-window,100,1h', { cost: (context) => context.getArgByIndex(1).first })
  @Query(() => Int, { nullable: true })
  rows(@Args('first', { type: () => Int }) first: number) {
    return first;
  }

  @RateLimit('fixed-window,100,1h', { cost: 20, settle: (_, n: number) => n })
  @Query(() => Int, { nullable: true })
  words(@Args('n', { type: () => Int }) n: number) {
    return n;
  }

  @RateLimit('fixed-window,100,1h', { cost: 40 })
  @Query(() => Int, { nullable: true })
  heavy() {
    return 1;
  }

  @RateLimit('fixed-window,3,1h,count=successes')
  @Mutation(() => Int, { nullable: true })
  order(@Args('items', { type: () => Int }) items: number) {
    if (items === 0) throw new Error('nothing in it');
    return items;
  }
}

const ANN = { user: 'ann' };
const FOUR = '{ a: balance b: balance c: balance d: balance }';

describe.each(SERVERS)('graphql.per: operation, %s', (server) => {
  const open = (limits: RateLimitOptions = {}) => {
    const perOperation = { ...limits, graphql: { per: 'operation' } } as const;
    return startGraphql(server, { limits: perOperation, resolvers: [ShopResolver] });
  };

  it('counts each call where failures count: a right one does not pay for wrong ones', async () => {
    const app = await open();
    const [right, wrong] = ['(password: "sesame")', '(password: "open")'];
    const text = `mutation { a: login${right} b: login${wrong} c: login${wrong} d: login${right} }`;
    const first = await app.ask(text, ANN);
    expect([first.data, refused(first)]).toEqual([{ a: 1, b: null, c: null, d: 1 }, 0]);
    expect(await leftOf(app, 'ann', 'Mutation.login')).toBe(1);
    const second = await app.ask(text, ANN);
    expect([second.data, refused(second)]).toEqual([{ a: 1, b: null, c: null, d: null }, 2]);
    expect(await leftOf(app, 'ann', 'Mutation.login')).toBe(0);
  });

  it('counts each call where a rule of the book counts failures', async () => {
    const rules = {
      api: { 'Query.count': 'fixed-window,3,1h,count=failures' },
      policy: { unused: 'fixed-window,3,1h,count=failures' },
    } as const;
    const app = await open({ rules });
    const text = '{ a: count(n: 1) b: count(n: 0) c: count(n: 0) d: count(n: 0) e: count(n: 1) }';
    const answer = await app.ask(text, ANN);
    // The first three have begun before any of them ends.
    expect([admitted(answer), refused(answer)]).toEqual([1, 2]);
    expect(await leftOf(app, 'ann', 'Query.count')).toBe(1);
    expect(admitted(await app.ask(FOUR, ANN))).toBe(4);
    expect(await leftOf(app, 'ann', 'Query.balance')).toBe(2);
  });

  it('counts each call where successes count', async () => {
    const app = await open();
    const text = 'mutation { a: order(items: 0) b: order(items: 2) c: order(items: 3) }';
    expect((await app.ask(text, ANN)).data).toEqual({ a: null, b: 2, c: 3 });
    expect(await leftOf(app, 'ann', 'Mutation.order')).toBe(1);
  });

  it('takes what each call costs, where that follows from its arguments or its answer', async () => {
    const app = await open();
    const text =
      '{ a: rows(first: 1) b: rows(first: 60) c: rows(first: 60) d: words(n: 1) e: words(n: 9) }';
    expect((await app.ask(text, ANN)).data).toEqual({ a: 1, b: 60, c: null, d: 1, e: 9 });
    expect(await leftOf(app, 'ann', 'Query.rows')).toBe(39);
    expect(await leftOf(app, 'ann', 'Query.words')).toBe(90);
  });

  it('takes a fixed cost once', async () => {
    const app = await open();
    expect(admitted(await app.ask('{ a: heavy b: heavy c: heavy }', ANN))).toBe(3);
    expect(await leftOf(app, 'ann', 'Query.heavy')).toBe(60);
  });
});
