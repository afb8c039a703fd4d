import { describeWithRedis, RedisServer } from '../../../support/redis-server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { ALGORITHMS, CLIENTS, clientOf, Shop, waitOf, wordsOf } from './support.js';

describeWithRedis.each(CLIENTS)('a reply that is lost, under %s', (client) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let shop: Shop;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.to(server.port);
    // Far longer than needed, so that a busy machine loses no reply of its own.
    shop = await Shop.open(clientOf(client, proxy.port), { timeoutMillis: 1000 });
    // The scripts are known from now on: a call is one command.
    for (const rule of ALGORITHMS) await shop.take(rule, 'someone else');
    await shop.peek(ALGORITHMS[0], 'someone else');
  });
  afterEach(async () => {
    await server.stop();
    await proxy.stop();
  });

  it.each(ALGORITHMS)(
    'was taken once, and the request is decided without Redis: %s',
    async (rule) => {
      expect(await shop.takes(2, rule)).toBe('yes, yes');
      proxy.dropNextReply('EVALSHA');
      const { answer, millis } = await waitOf(() => shop.take(rule));
      expect(wordsOf(answer)).toBe('~yes');
      expect(millis).toBeLessThanOrEqual(110);
      await shop.recovered();
      expect((await shop.peek(rule)).remaining).toBe(2);
      expect(await shop.takes(3, rule)).toBe('yes, yes, quota');
    },
  );

  it('was settled once', async () => {
    for (const rule of ALGORITHMS) {
      const outcome = await shop.outcome(rule, 'alice', 3);
      proxy.dropNextReply('EVALSHA');
      expect(await shop.store.settle(outcome, -1, shop.now)).toBe(0);
      await shop.recovered();
      expect((await shop.peek(rule)).remaining).toBe(3);
      proxy.dropNextReply('EVALSHA');
      // It is not known whether it was charged: nothing is promised.
      expect(await shop.store.settle(outcome, 1, shop.now)).toBe(1);
      await shop.recovered();
      expect((await shop.peek(rule)).remaining).toBe(2);
    }
  });

  it('that comes in pieces is a reply', async () => {
    const patient = await Shop.open(clientOf(client, proxy.port), { timeoutMillis: 5000 });
    proxy.bytesPerTick = 40;
    const rule = ALGORITHMS.join(' & ');
    expect(await patient.takes(6, rule)).toBe('yes, yes, yes, yes, yes, quota');
    expect(patient.events).toEqual([]);
  });

  it('to many who asked at once is one failure, and each was taken at most once', async () => {
    const [rule] = ALGORITHMS;
    proxy.dropNextReply('EVALSHA');
    const users = Array.from({ length: 50 }, (_, i) => `user-${i}`);
    const all = await Promise.all(users.map((user) => shop.take(rule, user)));
    expect(all.map(wordsOf)).toEqual(users.map(() => '~yes'));
    // Fifty failures would have opened the breaker; until the connection stands again it may open.
    expect(shop.events).toEqual(['failed']);
    await shop.recovered();
    const told = shop.events.filter((event) => !event.startsWith('breaker'));
    expect(told).toEqual(['failed', 'recovered']);
    for (const user of users) expect((await shop.peek(rule, user)).remaining).toBe(4);
  });

  it('each time is never more than the limit, with deny', async () => {
    for (const rule of ALGORITHMS.map((one) => `${one},onStoreError=deny`)) {
      let allowed = 0;
      for (let i = 0; i < 9; i++) {
        if (i % 3 === 1) proxy.dropNextReply('EVALSHA');
        if ((await shop.take(rule)).allowed) allowed++;
        await shop.recovered();
      }
      // Two of the three lost replies came before the limit was reached.
      expect(allowed).toBe(3);
    }
  });

  it('is not asked for again when scripts were flushed meanwhile', async () => {
    for (const rule of ALGORITHMS) {
      await server.send('SCRIPT', 'FLUSH');
      expect(await shop.takes(2, rule)).toBe('yes, yes');
      await server.send('SCRIPT', 'FLUSH');
      // The script goes along with the second command of the call.
      proxy.dropNextReply('$4\r\nEVAL\r\n');
      expect(wordsOf(await shop.take(rule))).toBe('~yes');
      await shop.recovered();
      expect((await shop.peek(rule)).remaining).toBe(2);
    }
  });

  it('costs nobody an error when scripts are flushed under load', async () => {
    const [rule] = ALGORITHMS;
    const flushing = Promise.all(Array.from({ length: 20 }, () => server.send('SCRIPT', 'FLUSH')));
    const words: string[] = [];
    for (let i = 0; i < 40; i++) words.push(wordsOf(await shop.take(rule, `user-${i}`)));
    await flushing;
    expect(words).toEqual(words.map(() => 'yes'));
    expect(shop.events).toEqual([]);
  });
});
