import {
  type DroppedEvent,
  MemoryStore,
  type Outcome,
  RateLimitConfigError,
  RateLimitStore,
  type Reservation,
  type StoreEntry,
} from 'nestjs-doorman';
import { byHeader, droppedOf, SlowStore, start } from './support.js';

const TEN = { default: 'fixed-window,10,10' };

const serve = (rules: unknown = TEN, store?: RateLimitStore) =>
  start('express', { limits: byHeader(rules, store && { store }) });

/** Counts in memory; what it is told to fail at, it fails at. */
class Unsteady extends RateLimitStore {
  readonly name = 'unsteady';
  failing: readonly ('decide' | 'settle')[] = [];
  private readonly inner = new MemoryStore({ maxKeys: 1000 });

  private check(what: 'decide' | 'settle'): void {
    if (this.failing.includes(what)) throw new Error('the cable is out');
  }

  override async decide(entries: readonly StoreEntry[], now: number): Promise<readonly Outcome[]> {
    this.check('decide');
    return this.inner.decide(entries, now);
  }

  override async settle(...args: Parameters<RateLimitStore['settle']>): Promise<number> {
    this.check('settle');
    return this.inner.settle(...args);
  }

  override reset(): void {}
  override block(): void {}
}

describe('a reservation', () => {
  it.each([
    ['of an estimate', undefined, 6],
    ['of less', 1, 9],
    ['of nothing', 0, 10],
    ['of the same', 4, 6],
    ['of more', 9, 1],
    ['of more than there is', 25, 0],
  ])('commits a cost %s', async (_, actual, left) => {
    const { service } = await serve();
    const reservation = await service.reserve('alice', 'mail', { cost: 4 });
    expect(reservation.decision).toMatchObject({ allowed: true, remaining: 6 });
    await reservation.commit(actual);
    expect((await service.peek('alice', 'mail')).remaining).toBe(left);
    expect((await service.peek('bob', 'mail')).remaining).toBe(10);
  });

  it('gives all back when it is cancelled', async () => {
    const { service } = await serve();
    await (await service.reserve('alice', 'mail', { cost: 4 })).cancel();
    expect(await service.peek('alice', 'mail')).toMatchObject({
      remaining: 10,
      resetAfterMillis: 0,
    });
  });

  it('stays spent when nobody settles it', async () => {
    const { service, clock } = await serve();
    await service.reserve('alice', 'mail', { cost: 4 });
    expect((await service.peek('alice', 'mail')).remaining).toBe(6);
    clock.advance(4999);
    expect((await service.peek('alice', 'mail')).remaining).toBe(6);
  });

  it('can be taken apart', async () => {
    const { service } = await serve();
    const { commit, cancel } = await service.reserve('alice', 'mail', { cost: 4 });
    await commit(1);
    await cancel();
    expect((await service.peek('alice', 'mail')).remaining).toBe(9);
  });

  it('is settled at once where the store answers at once', async () => {
    const { service } = await serve();
    const reservation = await service.reserve('alice', 'mail', { cost: 4 });
    const settled = reservation.commit(1);
    expect(service.checkSync('alice', 'mail', { cost: 0 }).remaining).toBe(9);
    await settled;
  });

  it('is settled once: the first call counts', async () => {
    const { service } = await serve();
    const settle = async (...calls: ((one: Reservation) => Promise<void>)[]) => {
      await service.reset('alice', 'mail');
      const one = await service.reserve('alice', 'mail', { cost: 4 });
      for (const call of calls) await call(one);
      return (await service.peek('alice', 'mail')).remaining;
    };
    const commit = (one: Reservation) => one.commit();
    const commit3 = (one: Reservation) => one.commit(3);
    const cancel = (one: Reservation) => one.cancel();
    expect(await settle(commit3, commit3, cancel)).toBe(7);
    expect(await settle(commit, cancel)).toBe(6);
    expect(await settle(cancel, cancel, commit3)).toBe(10);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null])(
    'throws RangeError at once for an actual cost of %p, and stays open',
    async (given) => {
      const { service } = await serve();
      const reservation = await service.reserve('alice', 'mail', { cost: 4 });
      expect(() => reservation.commit(given as number)).toThrow(RangeError);
      expect((await service.peek('alice', 'mail')).remaining).toBe(6);
      await reservation.commit(1);
      expect((await service.peek('alice', 'mail')).remaining).toBe(9);
    },
  );

  it.each([-1, 1.5, Number.NaN])('takes nothing for a cost of %p', async (cost) => {
    const { service } = await serve();
    await expect(service.reserve('alice', 'mail', { cost })).rejects.toThrow(RangeError);
    expect((await service.peek('alice', 'mail')).remaining).toBe(10);
  });

  it('does nothing when it was refused', async () => {
    const { service } = await serve();
    await service.check('alice', 'mail', { cost: 8 });
    for (const cost of [3, 11]) {
      const refused = await service.reserve('alice', 'mail', { cost });
      expect(refused.decision.allowed).toBe(false);
      await refused.commit(0);
      await refused.cancel();
      const another = await service.reserve('alice', 'mail', { cost });
      await another.commit(20);
    }
    expect((await service.peek('alice', 'mail')).remaining).toBe(2);
  });

  it('does nothing where nothing is limited', async () => {
    const { service } = await serve({});
    const reservation = await service.reserve('alice', 'mail', { cost: 4 });
    expect(reservation.decision.policy).toBe('unlimited');
    await reservation.commit(7);
    await reservation.cancel();
  });

  it('charges afterwards what was estimated at nothing', async () => {
    const { service } = await serve();
    await (await service.reserve('alice', 'mail', { cost: 0 })).commit(3);
    expect((await service.peek('alice', 'mail')).remaining).toBe(7);
  });

  it('takes from every joined rule, by user and address, or from the policy that is handed in', async () => {
    const { service } = await serve();
    const policy = 'fixed-window,10,10 & token-bucket,20,1m,by=ip';
    const options = { policy, dimensions: { ip: '192.0.2.1' } } as const;
    const left = async () => {
      const { rules } = await service.peek('alice', 'mail', options);
      return rules!.map(({ remaining }) => remaining);
    };
    const reservation = await service.reserve('alice', 'mail', { ...options, cost: 5 });
    expect(await left()).toEqual([5, 15]);
    await reservation.commit(7);
    expect(await left()).toEqual([3, 13]);
    await expect(
      service.reserve('alice', 'mail', { policy: 'fixed-window,0,10' as string }),
    ).rejects.toThrow(RateLimitConfigError);
  });

  it.each([
    ['fixed-window,10,10', 'in its box', 4999, 10],
    ['fixed-window,10,10', 'in the next box', 5000, 7],
    ['sliding-window,10,10', 'while it counts', 9999, 10],
    ['token-bucket,10,10', 'less what would have been earned', 2000, 10],
  ])('of %s gives back %s', async (policy, _, wait, left) => {
    const { service, clock } = await serve({ default: policy });
    const reservation = await service.reserve('alice', 'mail', { cost: 4 });
    clock.advance(wait);
    if (left === 7) await service.check('alice', 'mail', { cost: 3 });
    await reservation.cancel();
    expect((await service.peek('alice', 'mail')).remaining).toBe(left);
  });

  it('leaves to the caller how a rule that counts failures is settled', async () => {
    const { service } = await serve({ default: 'fixed-window,10,10,count=failures' });
    await service.check('alice', 'mail');
    await (await service.reserve('alice', 'mail')).commit();
    await (await service.reserve('alice', 'mail')).cancel();
    expect((await service.peek('alice', 'mail')).remaining).toBe(8);
  });
});

describe('the event dropped', () => {
  it('tells what cost more than there was, and by how much', async () => {
    const { service, app } = await serve();
    const events: DroppedEvent[] = [];
    let complete = false;
    droppedOf(service).subscribe({
      next: (event) => events.push(event),
      complete: () => {
        complete = true;
      },
    });
    await (await service.reserve('alice', '/orders', { cost: 4 })).commit(9);
    expect(events).toEqual([]);
    const dimensions = { ip: '192.0.2.1' };
    const reservation = await service.reserve(undefined, 'mail', { cost: 4, dimensions });
    await reservation.commit(25);
    expect(events).toEqual([
      {
        type: 'dropped',
        userId: undefined,
        address: '192.0.2.1',
        api: 'mail',
        cost: 4,
        actual: 25,
        dropped: 15,
      },
    ]);
    await app.close();
    expect(complete).toBe(true);
  });

  it('tells of a bucket only what goes below zero by more than its capacity', async () => {
    const { service } = await serve({ default: 'token-bucket,10,10' });
    const dropped: number[] = [];
    droppedOf(service).subscribe((event) => dropped.push(event.dropped));
    await (await service.reserve('alice', 'mail', { cost: 4 })).commit(20);
    expect(await service.peek('alice', 'mail')).toMatchObject({ retryAfterMillis: 11_000 });
    await (await service.reserve('bob', 'mail', { cost: 4 })).commit(23);
    expect(dropped).toEqual([3]);
  });
});

describe('a reservation while the store fails', () => {
  const LOCAL = { policy: 'fixed-window,10,10,onStoreError=local' } as const;

  it('is settled in this process where it was taken there', async () => {
    const store = new Unsteady();
    const { service } = await serve(TEN, store);
    store.failing = ['decide'];
    const reservation = await service.reserve('alice', 'mail', { ...LOCAL, cost: 4 });
    expect(reservation.decision).toMatchObject({ degraded: true, remaining: 6 });
    store.failing = [];
    await service.check('alice', 'mail', { ...LOCAL, cost: 5 });
    await reservation.commit(1);
    expect((await service.peek('alice', 'mail', LOCAL)).remaining).toBe(5);
    store.failing = ['decide'];
    expect((await service.peek('alice', 'mail', LOCAL)).remaining).toBe(9);
  });

  it.each([
    'fixed-window,10,10,onStoreError=allow',
    'fixed-window,10,10,onStoreError=deny',
  ] as const)('does nothing where nothing was counted: %s', async (policy) => {
    const store = new Unsteady();
    const { service } = await serve(TEN, store);
    store.failing = ['decide', 'settle'];
    const reservation = await service.reserve('alice', 'mail', { policy, cost: 4 });
    await reservation.commit(1);
    store.failing = [];
    expect((await service.peek('alice', 'mail', { policy })).remaining).toBe(10);
  });

  it('never rejects: what is not given back stays spent, and a charge is dropped', async () => {
    const store = new Unsteady();
    const { service, logs } = await serve(TEN, store);
    const dropped: number[] = [];
    droppedOf(service).subscribe((event) => dropped.push(event.dropped));
    const [less, more] = [
      await service.reserve('alice', 'mail', { cost: 2 }),
      await service.reserve('alice', 'mail', { cost: 2 }),
    ];
    store.failing = ['settle'];
    await expect(less.commit(1)).resolves.toBeUndefined();
    await expect(more.commit(5)).resolves.toBeUndefined();
    void (await service.reserve('alice', 'mail', { cost: 2 })).cancel();
    expect(dropped).toEqual([3]);
    expect((await service.peek('alice', 'mail')).remaining).toBe(4);
    expect(logs.warnings('unsteady store failed', 'the cable is out')).toHaveLength(1);
  });

  it('is exact with a store that answers by promise', async () => {
    const { service } = await serve(TEN, new SlowStore(new MemoryStore()));
    const all = await Promise.all(
      Array.from({ length: 30 }, () => service.reserve('alice', 'mail')),
    );
    expect(all.filter(({ decision }) => decision.allowed)).toHaveLength(10);
    await Promise.all(all.map((one, i) => (i % 2 === 0 ? one.cancel() : one.commit())));
    expect((await service.peek('alice', 'mail')).remaining).toBe(5);
  });
});
