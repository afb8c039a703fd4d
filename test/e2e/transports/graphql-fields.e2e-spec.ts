/* Fields of GraphQL are resolved for each item of a list: only what is meant for them limits them. */
import { Field, Int, ObjectType, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { RateLimit, SkipRateLimit } from 'nestjs-doorman';
import {
  type GraphqlAnswer,
  type GraphqlParts,
  graphqlFaults,
  leftOf,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

@ObjectType()
class Order {
  @Field(() => Int)
  id!: number;
}

/** Five of them. */
const ORDERS = [1, 2, 3, 4, 5].map((id) => ({ id }));

/** The rule of the class is for its queries. */
@RateLimit('fixed-window,2,1h')
@Resolver(() => Order)
class OrderResolver {
  @Query(() => [Order], { nullable: true })
  orders() {
    return ORDERS;
  }

  @ResolveField(() => Int, { nullable: true })
  note() {
    return 1;
  }
}

@Resolver(() => Order)
class HistoryResolver {
  @Query(() => [Order], { nullable: true })
  archive() {
    return ORDERS;
  }

  @RateLimit('fixed-window,3,1h')
  @ResolveField(() => Int, { nullable: true })
  history() {
    return 1;
  }
}

/** Of nothing but fields that fail. */
@Resolver(() => Order)
class FaultyResolver {
  private left = 2;

  @Query(() => [Order], { nullable: true })
  orders() {
    return ORDERS;
  }

  /** Fails for the first two. */
  @RateLimit('fixed-window,3,1h,count=failures')
  @ResolveField(() => Int, { nullable: true })
  shaky() {
    if (this.left-- > 0) throw new Error('out of paper');
    return 1;
  }
}

@Resolver(() => Order)
class SkippedResolver {
  @Query(() => [Order], { nullable: true })
  orders() {
    return ORDERS;
  }

  @SkipRateLimit()
  @ResolveField(() => Int, { nullable: true })
  note() {
    return 1;
  }
}

const ANN = { user: 'ann' };
const BOB = { user: 'bob' };

/** The values of a field of the orders. */
function valuesOf({ data }: GraphqlAnswer, query: string, field: string): (number | null)[] {
  return data[query].map((order: Record<string, number | null>) => order[field]);
}

describe.each(SERVERS)('Fields, %s', (server) => {
  const open = (limits: object, parts: Partial<GraphqlParts> = {}) =>
    startGraphql(server, { limits, resolvers: [OrderResolver], fields: ['guards'], ...parts });

  it('are not limited by the rule of their class, by the default, or by what always joins', async () => {
    const always = { flood: 'fixed-window,2,1h,by=user' };
    const app = await open({ always, rules: { default: 'fixed-window,1,1h' } });
    for (let i = 0; i < 2; i++) {
      const answer = await app.ask('{ orders { id a: note b: note c: note } }', ANN);
      expect(valuesOf(answer, 'orders', 'a')).toEqual([1, 1, 1, 1, 1]);
      expect(valuesOf(answer, 'orders', 'c')).toEqual([1, 1, 1, 1, 1]);
      expect(answer.errors).toEqual([]);
    }
    expect((await app.ask('{ orders { note } }', ANN)).data).toEqual({ orders: null });
  });

  it('are not limited by the rules of a user or of his tier', async () => {
    const rules = {
      default: 'fixed-window,9,1h',
      user: { ann: 'fixed-window,1,1h' },
      tier: { pro: 'fixed-window,1,1h' },
    };
    const tierOf = (user: string) => (user === 'bob' ? 'pro' : undefined);
    const app = await open({ rules, tierOf });
    for (const who of [ANN, BOB]) {
      const answer = await app.ask('{ orders { a: note b: note } }', who);
      expect(valuesOf(answer, 'orders', 'b')).toEqual([1, 1, 1, 1, 1]);
    }
  });

  it('are limited by an entry of their own name, for each user apart', async () => {
    const app = await open({ rules: { api: { 'Order.note': 'fixed-window,3,1h' } } });
    const answer = await app.ask('{ orders { note } }', ANN);
    expect(valuesOf(answer, 'orders', 'note')).toEqual([1, 1, 1, null, null]);
    expect(refused(answer)).toBe(2);
    expect(answer.errors.map(({ path }) => path?.join('.'))).toEqual([
      'orders.3.note',
      'orders.4.note',
    ]);
    expect(await leftOf(app, 'ann', 'Order.note')).toBe(0);
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(1);
    const other = await app.ask('{ orders { n: note } }', BOB);
    expect(valuesOf(other, 'orders', 'n')).toEqual([1, 1, 1, null, null]);
  });

  it.each([
    ['user', { user: { ann: { api: { 'Order.note': 'fixed-window,3,1h' } } } }],
    ['tier', { tier: { pro: { api: { 'Order.note': 'fixed-window,3,1h' } } } }],
  ])('an entry of their own name for one %s limits nobody else', async (_, entry) => {
    const tierOf = (user: string) => (user === 'ann' ? 'pro' : undefined);
    const app = await open({ rules: { default: 'fixed-window,1,1h', ...entry }, tierOf });
    const answer = await app.ask('{ orders { note } }', ANN);
    expect(valuesOf(answer, 'orders', 'note')).toEqual([1, 1, 1, null, null]);
    const other = await app.ask('{ orders { note } }', BOB);
    expect(valuesOf(other, 'orders', 'note')).toEqual([1, 1, 1, 1, 1]);
  });

  it('are limited by their own decorator, whatever query leads to them', async () => {
    const resolvers = [OrderResolver, HistoryResolver];
    const app = await open({ rules: {} }, { resolvers });
    const answer = await app.ask('{ orders { history } }', ANN);
    expect(valuesOf(answer, 'orders', 'history')).toEqual([1, 1, 1, null, null]);
    const other = await app.ask('{ archive { h: history } }', ANN);
    expect(valuesOf(other, 'archive', 'h')).toEqual([null, null, null, null, null]);
    expect(refused(other)).toBe(5);
    expect(await leftOf(app, 'ann', 'Order.history')).toBe(0);
  });

  it('under aliases and in a batch have no more than the limit', async () => {
    const app = await open({ rules: {} }, { resolvers: [HistoryResolver] });
    const query = '{ archive { a: history b: history } }';
    const { body } = await app.post([{ query }, { query }], { 'x-user': 'ann' });
    const all = body.flatMap(({ data }: GraphqlAnswer) => data.archive.flatMap(Object.values));
    expect(all).toHaveLength(20);
    expect(all.filter((value: unknown) => value !== null)).toHaveLength(3);
  });

  it('of one operation are one call where operations are counted', async () => {
    const limits = { rules: {}, graphql: { per: 'operation' } };
    const app = await open(limits, { resolvers: [HistoryResolver] });
    for (let i = 0; i < 3; i++) {
      const answer = await app.ask('{ archive { a: history b: history } }', ANN);
      expect(valuesOf(answer, 'archive', 'b')).toEqual([1, 1, 1, 1, 1]);
    }
    expect(refused(await app.ask('{ archive { a: history b: history } }', ANN))).toBe(10);
  });

  it('keep counted their failures alone, where interceptors run before them too', async () => {
    const app = await open(
      { rules: {} },
      { resolvers: [FaultyResolver], fields: ['guards', 'interceptors'] },
    );
    const first = await app.ask('{ orders { id shaky } }', ANN);
    expect(first.errors.filter(({ message }) => message === 'out of paper')).toHaveLength(2);
    expect(await leftOf(app, 'ann', 'Order.shaky')).toBe(1);
  });

  it('keep every call counted, where no interceptor sees how they end', async () => {
    const app = await open({ rules: {} }, { resolvers: [FaultyResolver] });
    const first = await app.ask('{ orders { id shaky } }', ANN);
    expect(valuesOf(first, 'orders', 'shaky')).toEqual([null, null, 1, null, null]);
    expect(refused(first)).toBe(2);
    expect(await leftOf(app, 'ann', 'Order.shaky')).toBe(0);
  });

  it('with a decorator and without guards are a fault at the start', async () => {
    const limits = { rules: { default: 'fixed-window,9,1h' } } as const;
    const parts = { limits, resolvers: [HistoryResolver] };
    for (const fields of [undefined, [], ['interceptors', 'filters']] as const) {
      expect(await graphqlFaults(server, { ...parts, fields })).toEqual([
        {
          code: 'DECORATOR_NO_EFFECT',
          place: 'HistoryResolver.history',
          given: '@RateLimit',
          problem:
            "fields have no guards: set fieldResolverEnhancers: ['guards'] in GraphQLModule, or decorate the query",
        },
      ]);
    }
  });

  it('with an entry of their name and without guards are a fault at the start', async () => {
    const rules = {
      api: { 'Order.note': 'fixed-window,3,1h', 'Query.orders': 'fixed-window,3,1h' },
      user: { ann: { api: { 'Order.note': 'fixed-window,4,1h' } } },
    } as const;
    const faults = await graphqlFaults(server, { limits: { rules }, resolvers: [OrderResolver] });
    const problem =
      "fields have no guards: set fieldResolverEnhancers: ['guards'] in GraphQLModule, or limit the query";
    expect(faults).toEqual([
      { code: 'BOOK_KEY', place: 'api:Order.note', given: 'fixed-window,3,1h', problem },
      { code: 'BOOK_KEY', place: 'user:ann.api.Order.note', given: 'fixed-window,4,1h', problem },
    ]);
  });

  it('without anything of their own need no guards', async () => {
    const limits = { rules: { default: 'fixed-window,9,1h' } };
    const app = await open(limits, { resolvers: [OrderResolver], fields: undefined });
    const answer = await app.ask('{ orders { note } }', ANN);
    expect(valuesOf(answer, 'orders', 'note')).toEqual([1, 1, 1, 1, 1]);
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(1);
  });

  it('that are skipped are not limited by an entry of their name', async () => {
    const rules = { api: { 'Order.note': 'fixed-window,3,1h' } };
    const app = await open({ rules }, { resolvers: [SkippedResolver] });
    const answer = await app.ask('{ orders { note } }', ANN);
    expect(valuesOf(answer, 'orders', 'note')).toEqual([1, 1, 1, 1, 1]);
  });
});
