import fc from 'fast-check';
import { planCounters } from '../../../src/core/counter-plan.js';
import { Policy, type Rule } from '../../../src/core/index.js';
import { slotOf } from '../../../src/stores/redis/clients/slot.js';
import { RedisStore } from '../../../src/stores/redis/index.js';
import { RemoteCounters } from '../../../src/stores/redis/remote-counter.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const SEED = Number(process.env['SEED'] ?? 20_260_101);
const PREFIX = 'shop';
const planOf = (text: string, place = 'default') =>
  planCounters({ policy: Policy.parse(text), place, label: 'test' });
const [plan] = planOf('token-bucket,5,10');
const [other] = planOf('sliding-window,7,1m', 'elsewhere');
const counters = new RemoteCounters(PREFIX, () => true);
const keyOf = (values: readonly string[], of = plan!) => counters.of({ plan: of, values }).key;

/** Pieces of text that could be taken for something else. */
const piece = fc.oneof(
  fc.constantFrom('', '|', '%', '#', '{', '}', '%7c', '%25', '\n', '\r', '\0', ' ', ':', '@', '='),
  fc.constantFrom('\ud800', '\udfff', '\ud83d\ude00', 'é', 'e\u0301', 'a', 'b', '__proto__'),
  fc.constantFrom('x'.repeat(63), 'x'.repeat(64), 'é'.repeat(32), 'y'.repeat(10_000)),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const value = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(''));
const list = fc.array(value, { minLength: 1, maxLength: 3 });

describe('keys of counters', () => {
  it('two lists of values never share one', () => {
    const seen = new Map<string, string>();
    const injective = fc.property(list, list, (a, b) => {
      for (const values of [a, b, [a.join('|')], [...a, '']]) {
        // As they would be taken for the same by JSON: lone surrogates are escaped there.
        const text = JSON.stringify(values);
        const key = Buffer.from(keyOf(values)).toString('hex');
        expect(seen.get(key) ?? text).toBe(text);
        seen.set(key, text);
      }
    });
    fc.assert(injective, { seed: SEED, numRuns: 5000 });
  });

  it('survive the way through UTF-8, begin with the prefix, and are of bounded length', () => {
    const kept = fc.property(list, (values) => {
      const key = keyOf(values);
      expect(Buffer.from(key).toString()).toBe(key);
      expect(key.startsWith(`${PREFIX}:{`)).toBe(true);
      // 64 bytes in clear, each three where it is escaped; a bar between; the digest's 11.
      const longest = values.length * (3 * 64 + 1) + PREFIX.length + 3 + 11;
      expect(Buffer.byteLength(key)).toBeLessThanOrEqual(longest);
    });
    fc.assert(kept, { seed: SEED, numRuns: 2000 });
  });

  it('of rules that count by the same thing are in one slot, and differ', () => {
    const together = fc.property(list, (values) => {
      const [one, two] = [keyOf(values), keyOf(values, other!)];
      expect(one).not.toBe(two);
      expect(slotOf(one)).toBe(slotOf(two));
      const braces = /^shop:\{([^{}]+)\}[\w-]{11}$/s;
      expect([braces.test(one), braces.exec(one)?.[1]]).toEqual([true, braces.exec(two)?.[1]]);
    });
    fc.assert(together, { seed: SEED, numRuns: 2000 });
  });

  it('stand in clear up to 64 bytes, and as a hash of 22 characters beyond', () => {
    expect(keyOf(['x'.repeat(64)])).toContain(`{${'x'.repeat(64)}}`);
    expect(keyOf(['é'.repeat(32)])).toContain(`{${'é'.repeat(32)}}`);
    for (const long of ['x'.repeat(65), `${'é'.repeat(32)}x`, 'y'.repeat(10_000), '\ud800']) {
      expect(keyOf([long])).toMatch(/\{#[\w-]{22}\}/);
    }
  });

  it.each(['a{b', 'a}', '{a}', ''])('a prefix of %j is refused', (prefix) => {
    const make = () => new RedisStore({ url: 'redis://127.0.0.1:1' }, { prefix });
    expect(make).toThrow(TypeError);
  });
});

describeWithRedis('the memory of a counter in Redis', () => {
  let server: RedisServer;
  let store: RedisStore;

  beforeAll(async () => {
    server = await RedisServer.start();
    const url = `redis://127.0.0.1:${server.port}`;
    store = new RedisStore({ url }, { prefix: PREFIX, timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  /** The largest of a hundred clients that took so often, without the key's own text. */
  async function bytesOf(text: string, takes: number): Promise<number> {
    const [of] = planOf(text, `memory of ${text}`);
    let most = 0;
    for (let i = 0; i < 100; i++) {
      const values = [`user-${i}`, '/orders/:id'];
      const entry = { counters: [{ plan: of!, values }], cost: 1, mode: 'take' } as const;
      for (let n = 0; n < takes; n++) await store.decide([entry], Date.now());
      const key = keyOf(values, planOf(text, `memory of ${text}`)[0]);
      const bytes = Number(await server.send('MEMORY', 'USAGE', key));
      most = Math.max(most, bytes - Buffer.byteLength(key));
    }
    return most;
  }

  it.each([
    ['token-bucket,5,10', 1, 120],
    ['token-bucket,7,1h', 3, 120],
    ['fixed-window,100,1h', 3, 120],
    ['sliding-window-counter,100,1h', 3, 150],
    ['sliding-window,100,1h', 50, 150 + 50 * 12],
  ] as const)('%s after %i takes: at most %i bytes beside the key', async (text, takes, bound) => {
    const { algorithm }: Rule = Policy.parse(text).rules[0]!;
    const bytes = await bytesOf(text, takes);
    process.stdout.write(`${algorithm}, ${takes} takes: ${bytes} bytes beside the key\n`);
    expect(bytes).toBeLessThanOrEqual(bound);
  });
});
