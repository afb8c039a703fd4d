import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { planDigest } from '../../../src/stores/redis/counter-key.js';
import { RedisStore } from '../../../src/stores/redis/index.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { countersOf, Deeds, plansOf, randomOf } from './deeds.js';

const RULES: Readonly<Record<string, readonly string[]>> = {
  'token buckets': ['token-bucket,5,300ms', 'token-bucket,7,1s,burst=3', 'token-bucket,100,7ms'],
  'fixed windows': ['fixed-window,3,200ms', 'fixed-window,1,50ms'],
  'sliding windows': ['sliding-window,5,200ms', 'sliding-window,2,50ms', 'sliding-window,30,400ms'],
  counters: ['sliding-window-counter,4,200ms', 'sliding-window-counter,9,50ms'],
  'joined rules': ['token-bucket,5,300ms & sliding-window,4,200ms & fixed-window,9,100ms'],
};

/** What a key says of itself at one moment: how long it lives, and how long it has something to say. */
const LOOK = `
  local function now()
    local time = redis.call('TIME')
    return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  end
  local list = redis.call('TYPE', KEYS[1]).ok == 'list'
  local value = list and redis.call('LRANGE', KEYS[1], 0, -1) or redis.call('GET', KEYS[1])
  local before, left = now(), redis.call('PTTL', KEYS[1])
  return { left, before, now(), value }`;

/** The moment from which a value is as good as none. */
function freshAt(kind: string, window: number, value: string | readonly string[]): number {
  const parts = typeof value === 'string' ? value.split(' ') : [...value];
  const block = parts[0]!.startsWith('b') ? Number(parts.shift()!.slice(1)) : 0;
  if (parts.length === 0) return block;
  const numbers = parts.map(Number);
  const [first, second] = numbers as [number, number];
  const boxes = second > 0 ? 2 : 1;
  const at: Readonly<Record<string, number>> = {
    'token-bucket': first,
    'fixed-window': ((numbers.length > 1 ? first : Math.floor(first / 1e6)) + 1) * window,
    'sliding-window': numbers.at(-1)! + window,
    'sliding-window-counter': (first + boxes) * window,
  };
  return Math.max(block, at[kind]!);
}

describeWithRedis('keys in Redis', () => {
  let server: RedisServer;
  let client: Redis;
  let store: RedisStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port);
    const url = `redis://127.0.0.1:${server.port}`;
    store = new RedisStore({ url }, { prefix: 'test', timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
  });

  afterAll(async () => {
    await store.close();
    client.disconnect();
    await server.stop();
  });

  it.each(Object.entries(RULES))(
    'live until they are as good as new, after whatever was done, and no longer: %s',
    async (place, rules) => {
      const random = randomOf(place.length);
      const plans = plansOf(rules, place);
      const deeds = new Deeds(random, plans);
      const kinds = new Map<string, { kind: string; window: number }>();
      const wrong: unknown[] = [];
      let taken: Awaited<ReturnType<RedisStore['decide']>>[number] | undefined;
      let [looked, delayed] = [0, 0];
      for (let step = 0; step < 600; step++) {
        const deed = deeds.next(taken?.entry.cost);
        const counters = countersOf(plans, deed);
        const now = Date.now();
        const { kind, number } = deed;
        if (kind === 'reset') await store.reset(counters);
        else if (kind === 'block') await store.block(counters, number && now + number / 10, now);
        else if (kind === 'settle') await store.settle(taken!, number, now);
        else {
          const [outcome] = await store.decide([{ counters, cost: number, mode: kind }], now);
          if (outcome!.decision.allowed && kind === 'take' && number > 0) taken = outcome;
        }
        for (const { plan, values } of counters) {
          const rule = { kind: plan.rule.algorithm, window: plan.rule.windowMillis };
          for (const key of await client.keys(`test:{${values[0]}|/orders}${planDigest(plan)}`)) {
            kinds.set(key, rule);
          }
        }
        for (const [key, { kind, window }] of kinds) {
          const look = (await client.eval(LOOK, 1, key)) as [number, string, string, string];
          const [left, before, after, value] = look;
          if (left === -2) continue;
          looked++;
          const fresh = freshAt(kind, window, value);
          const early = left < fresh - Number(after) - 2;
          const late = left > fresh - Number(before) + 2;
          // The kernel may have stopped the server between the script's look at the clock and its SET.
          if (late && left >= 0) delayed++;
          const far = left > fresh - Number(before) + 100;
          if (left < 0 || early || far)
            wrong.push({ deed, key, left, fresh, before, after, value });
        }
        if (random(10) === 0) await pause(random(60));
      }
      expect(looked).toBeGreaterThan(300);
      expect(wrong.slice(0, 3)).toEqual([]);
      expect(delayed).toBeLessThanOrEqual(looked / 50);
      await until('no key is left', async () => (await client.dbsize()) === 0);
    },
    60_000,
  );
});
