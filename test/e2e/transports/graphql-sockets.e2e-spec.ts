/* What waits and what is asked over a socket of GraphQL: queries there are as those over HTTP. */
import { Int, Query, Resolver, Subscription } from '@nestjs/graphql';
import { RateLimit } from 'nestjs-doorman';
import { until } from '../../support/until.js';
import {
  type GraphqlParts,
  leftOf,
  leftOfAddress,
  refused,
  SERVERS,
  startGraphql,
} from './graphql-app.js';

async function* once() {
  yield 1;
}

@Resolver()
class SocketResolver {
  @RateLimit('fixed-window,1,1m,wait=2m')
  @Subscription(() => Int, { resolve: (n: number) => n })
  patient() {
    return once();
  }

  @RateLimit('fixed-window,1,1m,wait=2m')
  @Query(() => Int, { nullable: true })
  patientQuery() {
    return 1;
  }

  @RateLimit('fixed-window,2,1h')
  @Query(() => Int, { nullable: true })
  orders() {
    return 1;
  }
}

describe.each(SERVERS)('Over a socket, %s', (server) => {
  const open = (parts: Partial<GraphqlParts> = {}) =>
    startGraphql(server, {
      limits: { rules: { default: 'fixed-window,2,1h' } },
      resolvers: [SocketResolver],
      ...parts,
    });

  it.each([
    ['a subscription', 'subscription { patient }', { patient: 1 }],
    ['a query over the socket', '{ patientQuery }', { patientQuery: 1 }],
  ])('%s waits for its turn where the rule says so', async (_, text, answer) => {
    const app = await open();
    const client = app.connect();
    expect((await client.receive(text)).data).toEqual([answer]);
    const asleep = jest.spyOn(app.clock, 'sleep');
    const second = client.receive(text);
    await until('it waits', () => asleep.mock.calls.length === 1);
    app.clock.advance(55_000);
    expect((await second).data).toEqual([answer]);
  });

  it.each([
    ['a subscription', 'subscription { patient }', 'Subscription.patient'],
    ['a query over the socket', '{ patientQuery }', 'Query.patientQuery'],
  ])('%s waits no longer once its client is gone, and takes nothing', async (_, text, api) => {
    const app = await open();
    await app.connect().receive(text);
    const asleep = jest.spyOn(app.clock, 'sleep');
    const client = app.connect();
    const left = client.receive(text).catch(() => 'gone');
    await until('it waits', () => asleep.mock.calls.length === 1);
    client.terminate();
    await left;
    const [, signal] = asleep.mock.calls[0]!;
    await until('it is let go', () => signal?.aborted);
    app.clock.advance(55_000);
    expect(await leftOfAddress(app, api)).toBe(1);
  });

  it('a query over the socket is counted with those over HTTP, for the user as well', async () => {
    const limits = { user: undefined, rules: { default: 'fixed-window,2,1h' } } as const;
    const onConnect = ({ token }: { token: string }) => ({ user: { id: token } });
    const app = await open({ limits, onConnect });
    const client = app.connect({ token: 'ann' });
    const two = await client.receive('{ a: orders b: orders }');
    expect(two.data).toEqual([{ a: 1, b: 1 }]);
    expect(refused(await client.receive('{ orders }'))).toBe(1);
    expect(await leftOf(app, 'ann', 'Query.orders')).toBe(0);
    expect(refused(await app.ask('{ orders }'))).toBe(0);
  });
});
