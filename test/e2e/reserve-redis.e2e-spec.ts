import { MemoryStore, type RateLimitStore, type Reservation } from 'nestjs-doorman';
import { RedisStore } from 'nestjs-doorman/redis';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { byHeader, droppedOf, start } from './support.js';

/** Midnight, so that windows of 10 s begin at 0. */
const MIDNIGHT = 1_767_225_600_000;

/**
 * Each line: `at what n → what is left, what was dropped`, worked out by hand. A reservation is
 * taken under a letter, and settled by it.
 */
const TRACES: Readonly<Record<string, string>> = {
  'fixed-window,10,10': `
        0 take a 4 → 6
     1000 take b 3 → 3
     2000 commit a 1 → 6        # 3 come back
     3000 cancel b → 9
     3000 cancel b → 9          # once
     4000 take c 4 → 5
    12000 cancel c → 10         # of another box: nothing comes back
    12000 take d 2 → 8
    13000 commit d 12 → 0 dropped 2
    13000 take e 1 → no 0
    13000 cancel e → 0          # a refusal took nothing
    20000 take f 0 → 10
    20000 commit f 3 → 7
  `,
  'sliding-window,10,10': `
        0 take a 4 → 6
     4000 take b 3 → 3
     9999 cancel a → 7          # the four of 0
    10000 take c 5 → 2
    14000 commit b 1 → 5        # those of 4000 are gone: nothing comes back
    15000 commit c 9 → 1        # four more, at 15000
    20000 take d 1 → 5          # those of 10000 leave
  `,
  'sliding-window-counter,10,10': `
        0 take a 8 → 2
     9000 commit a 4 → 6
    10000 take b 2 → 4          # 4 + 2
    15000 cancel b → 8          # 4 × 0.5
    16000 take c 2 → 6          # 4 × 0.4 = 1.6, and 2
  `,
  'token-bucket,10,10': `
        0 take a 8 → 2
     3000 commit a 2 → 8        # 5 full; of 6, 3 would have been earned: 3 come back
     3000 take b 8 → 0
     4000 commit b 19 → 0       # 1 earned, 11 more: 10 below zero
     4000 take c 1 → no 0
    15000 take c 1 → 0
    15000 commit c 30 → 0 dropped 19
  `,
  'fixed-window,10,10 & token-bucket,5,10': `
        0 take a 4 → 1
     1000 commit a 1 → 4        # the bucket: 1.5; of 3 given back, 0.5 were earned
     1000 take b 5 → no 4
     1000 commit b 9 → 4
  `,
};

interface Line {
  readonly at: number;
  readonly what: 'take' | 'commit' | 'cancel';
  readonly name: string;
  readonly cost: number | undefined;
}

const linesOf = (trace: string) =>
  trace
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);

function read(line: string): Line {
  const [at, what, name = '', cost] = line.split(' →')[0]!.split(' ');
  return {
    at: Number(at),
    what: what as Line['what'],
    name,
    cost: cost === undefined ? undefined : Number(cost),
  };
}

/** What the service says to the deeds of a trace, as a trace. */
async function played(store: RateLimitStore, policy: string, trace: string): Promise<string[]> {
  const limits = byHeader({ default: policy }, { store });
  const { service, clock } = await start('express', { limits, startMillis: MIDNIGHT });
  const open = new Map<string, Reservation>();
  let dropped = 0;
  droppedOf(service).subscribe((event) => {
    dropped = event.dropped;
  });
  const said: string[] = [];
  for (const { at, what, name, cost } of linesOf(trace).map(read)) {
    clock.set(MIDNIGHT + at);
    dropped = 0;
    let refused = false;
    if (what === 'take') {
      const reservation = await service.reserve('alice', 'mail', { cost: cost! });
      refused = !reservation.decision.allowed;
      open.set(name, reservation);
    } else if (what === 'commit') await open.get(name)!.commit(cost);
    else await open.get(name)!.cancel();
    const { remaining } = await service.peek('alice', 'mail', { cost: 0 });
    const drop = dropped > 0 ? ` dropped ${dropped}` : '';
    const deed = [at, what, name, ...(cost === undefined ? [] : [cost])].join(' ');
    said.push(`${deed} → ${refused ? 'no ' : ''}${remaining}${drop}`);
  }
  return said;
}

describe('the golden trace of what is settled afterwards', () => {
  it.each(Object.entries(TRACES))('of %s is what the memory store says', async (rule, trace) => {
    expect(await played(new MemoryStore(), rule, trace)).toEqual(linesOf(trace));
  });
});

describeWithRedis('the golden trace of what is settled afterwards', () => {
  let server: RedisServer;
  let stores = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(() => server.stop());

  const connect = async () => {
    const target = { url: `redis://127.0.0.1:${server.port}` };
    const prefix = `trace-${++stores}`;
    const store = new RedisStore(target, { prefix, time: 'clock', timeoutMillis: 2000 });
    await until('the store is connected', () => store.connected);
    return store;
  };

  it.each(Object.entries(TRACES))('of %s is what the Redis store says', async (rule, trace) => {
    expect(await played(await connect(), rule, trace)).toEqual(linesOf(trace));
  });

  it('is followed by reservations that Redis never sees, while it is away', async () => {
    const store = await connect();
    const limits = byHeader({ default: 'fixed-window,10,10,onStoreError=local' }, { store });
    const { service, clock } = await start('express', { limits });
    const taken = await service.reserve('alice', 'mail', { cost: 4 });
    await server.kill();
    await until('the store notices', () => !store.connected);
    const local = await service.reserve('alice', 'mail', { cost: 6 });
    expect(local.decision).toMatchObject({ degraded: true, remaining: 4 });
    await expect(taken.cancel()).resolves.toBeUndefined(); // stays spent, in a Redis that is gone
    await local.commit(1);
    expect(await service.peek('alice', 'mail')).toMatchObject({ degraded: true, remaining: 9 });
    await server.restart();
    await until('the store is connected', () => store.connected);
    clock.advance(1000);
    expect(await service.check('alice', 'mail')).toMatchObject({ remaining: 9 });
  });

  it('is no other where a user is blocked and unblocked', async () => {
    const limits = byHeader({ default: 'fixed-window,10,10' }, { store: await connect() });
    const { service, clock } = await start('express', { limits });
    const reservation = await service.reserve('alice', 'mail', { cost: 4 });
    expect(await service.block('alice', 'mail', 3_153_600_000_000)).toBe(true);
    const blocked = { reason: 'blocked', retryAfterMillis: 3_153_600_000_000 };
    expect(await service.check('alice', 'mail')).toMatchObject(blocked);
    await reservation.cancel();
    expect((await service.check('bob', 'mail')).allowed).toBe(true);
    await service.unblock('alice', 'mail');
    expect(await service.check('alice', 'mail')).toMatchObject({ allowed: true, remaining: 9 });
    await service.block('alice', 'mail', 1000);
    clock.advance(1000);
    expect((await service.check('alice', 'mail')).allowed).toBe(true);
  });
});
