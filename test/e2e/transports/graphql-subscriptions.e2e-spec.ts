/* Subscriptions of GraphQL over graphql-ws: counted when they subscribe, and not for each event. */
import { type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { Args, Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { RateLimit } from 'nestjs-doorman';
import {
  type GraphqlParts,
  leftOf,
  leftOfAddress,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

/** Signs in whom the client of a socket said it is, as most guards of an application do. */
@Injectable()
class ConnectionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const graphql = context.getArgByIndex(2);
    // Apollo's driver hands the library's context on; Mercurius what was sent with the connection.
    const sent = graphql.req?.connectionParams ?? graphql._connectionInit;
    if (sent?.token) (graphql.req ?? graphql).user = { id: sent.token };
    return true;
  }
}

const seen = { subscribed: 0 };
beforeEach(() => {
  seen.subscribed = 0;
});

async function* countTo(last: number) {
  seen.subscribed++;
  for (let i = 1; i <= last; i++) yield i;
}

@Resolver()
class TicksResolver {
  /** No schema is without a query. */
  @Query(() => Int)
  time() {
    return 0;
  }

  @RateLimit('fixed-window,2,1h,name=ticks')
  @Subscription(() => Int, { resolve: (n: number) => n })
  ticks(@Args('last', { type: () => Int, defaultValue: 3 }) last: number) {
    return countTo(last);
  }

  @Subscription(() => Int, { resolve: (n: number) => n })
  plain() {
    return countTo(1);
  }

  @RateLimit('fixed-window,2,1h')
  @Subscription(() => Int, { resolve: (n: number) => n, filter: (n: number) => n % 2 === 0 })
  even() {
    return countTo(5);
  }

  @UseGuards(ConnectionGuard)
  @Subscription(() => Int, { resolve: (n: number) => n })
  guarded() {
    return countTo(1);
  }

  @RateLimit('fixed-window,2,1h,count=failures')
  @Subscription(() => Int, { resolve: (n: number) => n })
  secret(@Args('password') password: string) {
    if (password !== 'sesame') throw new Error('wrong password');
    return countTo(1);
  }
}

const TICKS = 'subscription { ticks }';
const THREE = [{ ticks: 1 }, { ticks: 2 }, { ticks: 3 }];

describe.each(SERVERS)('Subscriptions, %s', (server) => {
  const open = (parts: Partial<GraphqlParts> = {}) =>
    startGraphql(server, {
      limits: { rules: { default: 'fixed-window,2,1h' } },
      resolvers: [TicksResolver],
      providers: [ConnectionGuard],
      ...parts,
    });

  it('an accepted one delivers all its events, and is counted once', async () => {
    const app = await open();
    const client = app.connect();
    const { data, errors } = await client.receive('subscription { ticks(last: 40) }');
    expect([data.length, errors]).toEqual([40, []]);
    expect(data.at(-1)).toEqual({ ticks: 40 });
    expect(await leftOfAddress(app, 'Subscription.ticks')).toBe(1);
  });

  it('a refused one is told why and until when, and its handler does not run', async () => {
    const app = await open();
    const client = app.connect();
    for (let i = 0; i < 2; i++) expect((await client.receive(TICKS)).data).toEqual(THREE);
    const third = await client.receive(TICKS);
    expect(third.data).toEqual([]);
    expect(third.errors).toEqual([
      expect.objectContaining({
        message: 'Too many requests, try again in 2755 s',
        path: ['ticks'],
        extensions: { code: 'TOO_MANY_REQUESTS', policy: 'ticks', retryAfterMillis: 2_755_000 },
      }),
    ]);
    expect(JSON.stringify(third)).not.toMatch(/stack|\bat \S+ \(/);
    expect(seen.subscribed).toBe(2);
    expect(await leftOfAddress(app, 'Subscription.ticks')).toBe(0);
  });

  it('the connection stays open after a refusal, and the hint is true', async () => {
    const app = await open();
    const client = app.connect();
    for (let i = 0; i < 3; i++) await client.receive(TICKS);
    app.clock.advance(2_754_999);
    expect(refused(await client.receive(TICKS))).toBe(1);
    app.clock.advance(1);
    expect((await client.receive(TICKS)).data).toEqual(THREE);
  });

  it('several at once over one connection have no more than the limit', async () => {
    const app = await open();
    const client = app.connect();
    const all = await Promise.all(Array.from({ length: 6 }, () => client.receive(TICKS)));
    expect(all.filter(({ data }) => data.length === 3)).toHaveLength(2);
    expect(all.map(refused).reduce((a, b) => a + b)).toBe(4);
    expect(seen.subscribed).toBe(2);
  });

  it('many connections of one address have no more than the limit', async () => {
    const app = await open();
    const all = await Promise.all(Array.from({ length: 5 }, () => app.connect().receive(TICKS)));
    expect(all.filter(({ data }) => data.length === 3)).toHaveLength(2);
    expect(seen.subscribed).toBe(2);
  });

  it('one without a decorator meets the default, one under an alias its own rule', async () => {
    const app = await open();
    const client = app.connect();
    for (let i = 0; i < 2; i++)
      expect((await client.receive('subscription { p: plain }')).data).toEqual([{ p: 1 }]);
    expect(refused(await client.receive('subscription { q: plain }'))).toBe(1);
    expect(await leftOfAddress(app, 'Subscription.plain')).toBe(0);
    expect(await leftOfAddress(app, 'Subscription.ticks')).toBe(2);
  });

  it('one whose events are filtered is refused like any other', async () => {
    const app = await open();
    const client = app.connect();
    for (let i = 0; i < 2; i++)
      expect((await client.receive('subscription { even }')).data).toEqual([
        { even: 2 },
        { even: 4 },
      ]);
    const third = await client.receive('subscription { even }');
    expect([third.data, refused(third)]).toEqual([[], 1]);
    expect(seen.subscribed).toBe(2);
  });

  it('a user whom the start of the connection tells has a counter of his own', async () => {
    const limits = { user: undefined, rules: { default: 'fixed-window,2,1h' } } as const;
    const onConnect = ({ token }: { token: string }) => ({ user: { id: token } });
    const app = await open({ limits, onConnect });
    const [ann, bob] = [app.connect({ token: 'ann' }), app.connect({ token: 'bob' })];
    for (let i = 0; i < 2; i++) expect(refused(await ann.receive(TICKS))).toBe(0);
    expect(refused(await ann.receive(TICKS))).toBe(1);
    expect((await bob.receive(TICKS)).data).toEqual(THREE);
    expect(await leftOf(app, 'ann', 'Subscription.ticks')).toBe(0);
    expect(await leftOf(app, 'bob', 'Subscription.ticks')).toBe(1);
    expect(await leftOfAddress(app, 'Subscription.ticks')).toBe(2);
    // The same user again, over another connection.
    expect(refused(await app.connect({ token: 'ann' }).receive(TICKS))).toBe(1);
  });

  it('a user whom a guard finds in the parameters of the connection has a counter of his own', async () => {
    const limits = { user: undefined, rules: { default: 'fixed-window,2,1h' } } as const;
    const app = await open({ limits });
    const [ann, bob] = [app.connect({ token: 'ann' }), app.connect({ token: 'bob' })];
    const text = 'subscription { guarded }';
    expect((await ann.receive(text)).data).toEqual([{ guarded: 1 }]);
    expect((await ann.receive(text)).data).toEqual([{ guarded: 1 }]);
    expect(refused(await ann.receive(text))).toBe(1);
    expect((await bob.receive(text)).data).toEqual([{ guarded: 1 }]);
    expect(await leftOf(app, 'ann', 'Subscription.guarded')).toBe(0);
    expect(await leftOf(app, 'bob', 'Subscription.guarded')).toBe(1);
    expect(await leftOfAddress(app, 'Subscription.guarded')).toBe(2);
  });

  it('keeps counted the failed ones only, where the rule says so', async () => {
    const app = await open();
    const client = app.connect();
    const right = 'subscription { secret(password: "sesame") }';
    const wrong = 'subscription { secret(password: "open") }';
    for (let i = 0; i < 4; i++) expect((await client.receive(right)).data).toEqual([{ secret: 1 }]);
    for (let i = 0; i < 2; i++) {
      const { errors } = await client.receive(wrong);
      expect([errors[0]?.message, refused({ errors })]).toEqual(['wrong password', 0]);
    }
    expect(refused(await client.receive(right))).toBe(1);
    expect(await leftOfAddress(app, 'Subscription.secret')).toBe(0);
  });
});
