import { Controller, Get } from '@nestjs/common';
import { MemoryStore, RateLimit } from 'nestjs-doorman';
import { ADAPTERS, byHeader, left, SlowStore, start, statuses } from './support.js';

const ALICE = { 'x-user': 'alice' };
const BOB = { 'x-user': 'bob' };
const NINE = { default: 'fixed-window,9,10' };
const LOCAL = { dimensions: { ip: '127.0.0.1' } };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('fixed-window,5,10')
  @Get('orders')
  orders() {
    return [];
  }
}

const controllers = [Shop];

describe.each(ADAPTERS)('block on %s', (adapter) => {
  it('refuses that user and that api alone, and says for how long', async () => {
    const running = await start(adapter, { controllers, limits: byHeader(NINE) });
    const { service, http, clock } = running;
    expect(await service.block('alice', '/plain', 60_000)).toBe(true);
    const refused = await http.get('/plain').set(ALICE);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(refused.body).toMatchObject({ retryAfterMillis: 60_000 });
    expect(await service.check('alice', '/plain')).toMatchObject({ reason: 'blocked' });
    expect(await statuses(running, 1, '/plain', BOB)).toEqual([200]);
    expect(await statuses(running, 1, '/orders', ALICE)).toEqual([200]);
    clock.advance(59_999);
    expect(await statuses(running, 1, '/plain', ALICE)).toEqual([429]);
    clock.advance(1);
    expect(left(await http.get('/plain').set(ALICE))).toBe(8);
  });

  it('covers decorated handlers, and is lifted by unblock, which gives nothing back', async () => {
    const running = await start(adapter, { controllers, limits: byHeader(NINE) });
    const { service, http } = running;
    expect(left(await http.get('/orders').set(ALICE))).toBe(4);
    await service.block('alice', 'GET /orders', 60_000);
    expect(await statuses(running, 2, '/orders', ALICE)).toEqual([429, 429]);
    await service.unblock('bob', '/orders');
    expect(await statuses(running, 1, '/orders', ALICE)).toEqual([429]);
    await service.unblock('alice', '/orders');
    expect(left(await http.get('/orders').set(ALICE))).toBe(3);
  });

  it('blocks an address', async () => {
    const running = await start(adapter, { controllers, limits: byHeader(NINE) });
    await running.service.block(undefined, '/plain', 60_000, LOCAL);
    expect(await statuses(running, 1, '/plain')).toEqual([429]);
    expect(await statuses(running, 1, '/plain', ALICE)).toEqual([200]);
    await running.service.unblock(undefined, '/plain', LOCAL);
    expect(await statuses(running, 1, '/plain')).toEqual([200]);
  });
});

describe('block', () => {
  const serve = async (rules: unknown, more: object = {}) =>
    (await start('express', { controllers, limits: byHeader(rules, more) })).service;

  it('never touches what all share, and says that nothing is blocked', async () => {
    const service = await serve({ default: 'fixed-window,9,10,by=global' });
    expect(await service.block('alice', 'mail', 1000)).toBe(false);
    expect((await service.check('alice', 'mail')).allowed).toBe(true);
    const joined = await serve({
      default: 'fixed-window,9,10,by=user & fixed-window,99,10,by=global',
    });
    expect(await joined.block('alice', 'mail', 1000)).toBe(true);
    expect((await joined.check('alice', 'mail')).reason).toBe('blocked');
    expect((await joined.check('bob', 'mail')).allowed).toBe(true);
  });

  it('says that nothing is blocked where nothing is limited', async () => {
    const service = await serve({});
    expect(await service.block('alice', 'mail', 1000)).toBe(false);
    await expect(service.unblock('alice', 'mail')).resolves.toBeUndefined();
  });

  it('reaches every api where the rule counts by user alone', async () => {
    const service = await serve({ default: 'fixed-window,9,10,by=user' });
    await service.block('alice', 'mail', 1000);
    expect((await service.check('alice', 'other')).reason).toBe('blocked');
  });

  it('blocks by a policy that is handed in', async () => {
    const service = await serve(NINE);
    const options = { policy: 'fixed-window,3,10' } as const;
    await service.block('alice', 'mail', 1000, options);
    expect((await service.check('alice', 'mail', options)).reason).toBe('blocked');
    expect((await service.check('alice', 'mail')).allowed).toBe(true);
    await service.unblock('alice', 'mail', options);
    expect((await service.check('alice', 'mail', options)).allowed).toBe(true);
  });

  it('is replaced by a later block, longer or shorter', async () => {
    const service = await serve(NINE);
    for (const millis of [1000, 5000, 20]) {
      await service.block('alice', 'mail', millis);
      expect((await service.peek('alice', 'mail')).retryAfterMillis).toBe(millis);
    }
  });

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.MAX_SAFE_INTEGER,
    '60',
    Symbol('60'),
    Object.create(null),
  ])('throws RangeError for %p milliseconds, and blocks nothing', async (given) => {
    const service = await serve(NINE);
    await expect(service.block('alice', 'mail', given as number)).rejects.toThrow(RangeError);
    expect((await service.check('alice', 'mail')).allowed).toBe(true);
  });

  it('waits for a store that answers by promise, and tells when it fails', async () => {
    class Broken extends SlowStore {
      override async block(): Promise<never> {
        throw new Error('the cable is out');
      }
    }
    const slow = await serve(NINE, { store: new SlowStore(new MemoryStore()) });
    await slow.block('alice', 'mail', 1000);
    expect((await slow.check('alice', 'mail')).reason).toBe('blocked');
    const broken = await serve(NINE, { store: new Broken(new MemoryStore()) });
    await expect(broken.block('alice', 'mail', 1000)).rejects.toThrow('the cable is out');
  });
});
