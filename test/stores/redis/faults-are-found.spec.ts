import type { RedisStore } from '../../../src/stores/redis/index.js';
import * as lua from '../../../src/stores/redis/lua.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { RULES } from './rules.js';
import { firstDifference } from './stores-agree.js';

/** In which rules it shows, what stands in the scripts, and the fault in its place. */
const FAULTS: readonly (readonly [rules: string, right: string, wrong: string])[] = [
  ['token buckets', '(full - debt) / units', '(full - debt + units / 9) / units'],
  ['token buckets', '(s.full - s.debt) /', '(s.full - s.debt + s.unit / 9) /'],
  ['rules reloaded', 'rest - whole >= 0.5', 'rest - whole >= 1.5'],
  ['token buckets', 'now + whole + 1, pace - left, pace', 'now + whole, pace - left, pace'],
  ['token buckets', 'max(0, now - taken_at) * s.pace', '0'],
  ['token buckets', '2 * s.full - s.debt', 's.full - s.debt'],
  ['rules reloaded', 'if s.stored and not s.changed then', 'if false then'],
  ['huge numbers', '(ahead - 1) * s.pace + (s.pace - whole)', 'ahead * s.pace - whole'],
  ['fixed windows', 'if box < this then count = 0 end', 'if box <= this then count = 0 end'],
  ['fixed windows', 'floor(taken_at / s.window) == s.box', 'true'],
  ['fixed windows', 'count < 1000000 and this', 'count < 10000000 and this'],
  [
    'counters',
    'elseif box == s.box - 1 then\ns.previous',
    'elseif box == s.box - 2 then\ns.previous',
  ],
  ['counters', 'math.ceil(previous * left', 'floor(previous * left'],
  ['counters', 'ceil(s.previous * s.left', 'floor(s.previous * s.left'],
  [
    'counters',
    "text(s.current) .. ' ' .. text(s.previous)",
    "text(s.previous) .. ' ' .. text(s.current)",
  ],
  ['sliding windows', '+ s.window > now', '+ s.window >= now'],
  ['sliding windows', 'if leave > s.live - s.added then', 'if false then'],
  ['sliding windows', 's.head, s.dead = 0, 0', ''],
  ['sliding windows', "call('LREM', s.key, -n", "call('LREM', s.key, -1"],
  ['sliding windows', 'if s.live == 0 then s.oldest = now end', ''],
  ['joined rules', 'admitted = min(admitted, s.A.room(s, cost))', 'admitted = s.A.room(s, cost)'],
  ['joined rules', 'till = max(till, s.till)', 'till = s.till'],
  ['joined rules', 'dropped = max(dropped,', 'dropped = min(dropped,'],
];

describeWithRedis('the comparison step for step', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  afterAll(() => server.stop());

  function storeWith(right: string, wrong: string): RedisStore {
    const changed = (text: string) => text.replaceAll(right, wrong);
    const singles = Object.entries(lua.SINGLE).map(([name, text]) => [name, changed(text)]);
    const faulty = { ...lua, DECIDE: changed(lua.DECIDE), SINGLE: Object.fromEntries(singles) };
    expect(faulty).not.toEqual({ ...lua });
    let store: RedisStore | undefined;
    jest.isolateModules(() => {
      jest.doMock('../../../src/stores/redis/lua.js', () => faulty);
      const module = require('../../../src/stores/redis/index.js');
      const options = { prefix: 'test', time: 'clock', timeoutMillis: 5000 };
      store = new module.RedisStore({ url: `redis://127.0.0.1:${server.port}` }, options);
    });
    return store!;
  }

  it.each(FAULTS)(
    'finds a fault in the scripts: %s, %s',
    async (name, right, wrong) => {
      const store = storeWith(right, wrong);
      try {
        await until('the store is connected', () => store.connected);
        // Of the huge ones the bucket that earns most is alone, so that it is overdrawn often.
        const rules = name === 'huge numbers' ? RULES[name]!.slice(1, 2) : RULES[name]!;
        const run = { rules, steps: 200_000, place: `${right}→${wrong}` };
        expect(await firstDifference(store, { ...run, seed: 7 })).toMatch(/memory says/);
      } finally {
        await store.close();
      }
    },
    60_000,
  );
});
