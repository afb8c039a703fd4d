import { Redis } from 'ioredis';
import { createAlgorithm } from '../../../src/core/algorithms/index.js';
import { Rule } from '../../../src/core/index.js';
import { codecOf, ruleNumbers } from '../../../src/stores/redis/counter-codec.js';
import { DECIDE, SINGLE } from '../../../src/stores/redis/lua.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { type State, stateOf } from './script-states.js';
import { randomOf, START } from './stores-agree.js';

const RUNS = Number(process.env['REDIS_STEPS'] ?? 100_000) / 25;
const SEED = Number(process.env['SEED'] ?? 20_260_101);
const RULES = [
  ...['token-bucket,5,1', 'token-bucket,7,1,burst=3', 'token-bucket,999983,1s,burst=4'],
  ...['fixed-window,5,1', 'fixed-window,3,1ms', 'fixed-window,2000000,7ms'],
  ...['sliding-window-counter,5,1', 'sliding-window-counter,3,7ms'],
  ...['sliding-window,4,1', 'sliding-window,1,50ms', 'sliding-window,9,1'],
];

describeWithRedis('the quick scripts beside the general one', () => {
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port);
  });

  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  async function put(keys: readonly string[], states: readonly State[]): Promise<void> {
    await client.del(...keys);
    for (const [i, state] of states.entries()) {
      if (typeof state === 'string') await client.set(keys[i]!, state, 'PX', 5_000_000);
      else if (state) await client.rpush(keys[i]!, ...state);
      if (typeof state === 'object') await client.pexpire(keys[i]!, 5_000_000);
    }
  }

  /** What stands in a key, and how long it lives still. */
  async function seen(key: string): Promise<readonly [unknown, number]> {
    const list = (await client.type(key)) === 'list';
    const value = list ? await client.lrange(key, 0, -1) : await client.get(key);
    return [value, await client.pttl(key)];
  }

  it.each(RULES)(
    '%s: the same replies, values and times to live',
    async (text) => {
      const rule = Rule.parse(text);
      const algorithm = createAlgorithm(rule.algorithm, rule);
      const numbers = ruleNumbers(rule, algorithm);
      const { number } = codecOf(rule, algorithm);
      const random = randomOf(SEED + text.length);
      const unequal: unknown[] = [];
      for (let run = 0; run < RUNS / RULES.length; run++) {
        const now = START + random(1_000_000);
        const count = 1 + random(4);
        const states = Array.from({ length: count }, () =>
          stateOf(rule.algorithm, random, now, rule.windowMillis),
        );
        const asked = states.map(() => [1 + random(algorithm.capacity + 1), 1 + random(4)]);
        const keys = states.map((_, i) => `key ${i}`);
        const one = [...numbers, ...asked.flat()];
        const all = ['1', String(number), ...numbers, ...keys.map(() => '1')];
        for (const [i, [cost, n]] of asked.entries())
          all.push('1', `${i + 1}`, '0', `${cost}`, `${n}`);
        const results: [string, number[]][] = [];
        for (const [script, args] of [
          [SINGLE[rule.algorithm], one],
          [DECIDE, all],
        ] as const) {
          await put(keys, states);
          const reply = (await client.eval(
            script,
            count,
            ...keys,
            `${now}`,
            '',
            ...args,
          )) as number[];
          const after = await Promise.all(keys.map(seen));
          const values = after.map(([value]) => value);
          results.push([JSON.stringify([reply.slice(1), values]), after.map(([, left]) => left)]);
        }
        const [[quick, lives], [general, others]] = results as [
          [string, number[]],
          [string, number[]],
        ];
        // Some time passes between the two; to the millisecond it is looked at in expiry.spec.ts.
        const alike = lives.every((left, i) => Math.abs(left - others[i]!) < 400);
        if (quick !== general || !alike) {
          unequal.push({ now, states, asked, quick, general, lives, others });
        }
      }
      expect(unequal.slice(0, 3)).toEqual([]);
    },
    600_000,
  );
});
