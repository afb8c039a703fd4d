import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instances, type InstancesOption } from '../../../src/stores/redis/instances.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const script = readFileSync(
  join(__dirname, '../../../src/stores/redis/scripts/heartbeat.lua'),
  'utf8',
);

/** The beats come when the test says so; sockets and waiting keep their own time. */
const REAL = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
  'performance',
  'Date',
] as const;

type Warning = { readonly code: string; readonly message: string };

/** Without Redis: whatever is sent is lost. */
function create(option: InstancesOption) {
  const warnings: Warning[] = [];
  const sent: (readonly string[])[] = [];
  const instances = new Instances(option, {
    send: (_key, command) => {
      sent.push(command);
      return Promise.reject(new Error('Connection is closed.'));
    },
    prefix: 'shop',
    script,
    onWarning: (warning) => warnings.push(warning),
  });
  return { instances, warnings, sent };
}

describe('a number of instances', () => {
  it.each([1, 3, 10_000])('is %d as it was told', async (count) => {
    const { instances, sent } = create(count);
    instances.start();
    expect(instances.count).toBe(count);
    await instances.close();
    expect(sent).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '3', 'many', null, {}])(
    'cannot be %p',
    (option) => {
      const make = () => create(option as InstancesOption);
      expect(make).toThrow(RangeError);
      expect(make).toThrow(/whole number from 1 on, a function that answers one, or 'auto', got/);
    },
  );
});

describe('a function that knows the instances', () => {
  it('is asked each time', () => {
    let count = 2;
    const { instances, warnings } = create(() => count);
    expect(instances.count).toBe(2);
    count = 5;
    expect(instances.count).toBe(5);
    expect(warnings).toEqual([]);
  });

  it.each([
    [() => 0, 'got 0'],
    [() => Number.NaN, 'got NaN'],
    [() => 2.5, 'got 2.5'],
    [() => '2' as unknown as number, 'got "2"'],
    [async () => 2, 'got object'],
    [
      () => {
        throw new Error('not yet');
      },
      'got Error: not yet',
    ],
    [
      () => {
        throw Object.create(null);
      },
      'got Error: {}',
    ],
  ])('counts as 1 when it answers badly, with one warning (%#)', (answer, said) => {
    const { instances, warnings } = create(answer as () => number);
    expect([instances.count, instances.count]).toEqual([1, 1]);
    expect(warnings).toEqual([{ code: 'INSTANCES', message: expect.stringContaining(said) }]);
  });
});

describe('counted without an answer', () => {
  it('there is one instance, and nothing rejects', async () => {
    const { instances, sent } = create('auto');
    instances.start();
    expect(instances.count).toBe(1);
    await instances.close();
    expect(instances.count).toBe(1);
    expect(sent.map(([name]) => name)).toEqual(['EVAL', 'ZREM']);
  });
});

describeWithRedis('instances that count each other in Redis', () => {
  const KEY = 'shop:{instances}';
  let server: RedisServer;
  const opened: Instances[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: [...REAL] });
    await server.send('FLUSHALL');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((instances) => instances.close()));
    jest.useRealTimers();
  });

  function open(prefix = 'shop'): Instances {
    const instances = new Instances('auto', {
      send: (_key, command) => server.send(...command),
      prefix,
      script,
      onWarning: () => undefined,
    });
    opened.push(instances);
    return instances;
  }

  const counts = (all: readonly Instances[]) => all.map(({ count }) => count).join(' ');

  it('learn of each other by their beats, every 5 s', async () => {
    const [first, second, third] = [open(), open(), open()];
    for (const one of [first, second, third]) await one.beat();
    expect(counts([first, second, third])).toBe('1 2 3');
    first.start();
    await until('the first has learnt', () => first.count === 3);
    await open().beat();
    jest.advanceTimersByTime(4999);
    expect(jest.getTimerCount()).toBe(1);
    expect(first.count).toBe(3);
    jest.advanceTimersByTime(1);
    await until('the next beat came', () => first.count === 4);
  });

  it('beat at once when they start', async () => {
    const instances = open();
    instances.start();
    await until('it is there', async () => (await server.send('ZCARD', KEY)) === 1);
  });

  it('leave when they close, and beat no more', async () => {
    const [stays, leaves] = [open(), open()];
    leaves.start();
    await until('it is there', async () => (await server.send('ZCARD', KEY)) === 1);
    await leaves.close();
    expect(jest.getTimerCount()).toBe(0);
    await leaves.beat();
    leaves.start();
    expect(jest.getTimerCount()).toBe(0);
    await stays.beat();
    expect(stays.count).toBe(1);
  });

  it('are counted for three beats after they were last heard of, and no longer', async () => {
    const instances = open();
    const [seconds] = (await server.send('TIME')) as string[];
    const now = Number(seconds) * 1000;
    await server.send('ZADD', KEY, now - 16_000, 'gone', now - 10_000, 'silent for two beats');
    await instances.beat();
    expect(instances.count).toBe(2);
    expect(await server.send('ZSCORE', KEY, 'gone')).toBeNull();
  });

  it('are not kept by a clock that went back', async () => {
    const instances = open();
    const [seconds] = (await server.send('TIME')) as string[];
    await server.send('ZADD', KEY, Number(seconds) * 1000 + 3_600_000, 'of an hour to come');
    await instances.beat();
    expect(instances.count).toBe(1);
  });

  it('leave nothing behind when all are gone', async () => {
    await open().beat();
    const left = Number(await server.send('PTTL', KEY));
    expect(left).toBeGreaterThan(14_000);
    expect(left).toBeLessThanOrEqual(15_000);
  });

  it('write down the moment of a beat to the millisecond', async () => {
    await open().beat();
    const [, score] = (await server.send('ZRANGE', KEY, 0, 0, 'WITHSCORES')) as string[];
    expect(score).toMatch(/^\d{13}$/);
    const [seconds] = (await server.send('TIME')) as string[];
    expect(Math.abs(Number(seconds) * 1000 - Number(score))).toBeLessThan(5000);
  });

  it('count those of their own prefix only', async () => {
    const [shop, office] = [open('shop'), open('office')];
    await shop.beat();
    await office.beat();
    expect(counts([shop, office])).toBe('1 1');
  });

  it('keep the last number while Redis is away, and count on when it is back', async () => {
    const [first, second] = [open(), open()];
    await second.beat();
    await first.beat();
    expect(first.count).toBe(2);
    await server.kill();
    await first.beat();
    expect(first.count).toBe(2);
    await server.restart();
    await first.beat();
    expect(first.count).toBe(1);
  });

  it('keep the last number when the answer is none', async () => {
    const [first, second] = [open(), open()];
    await second.beat();
    await first.beat();
    await server.send('SET', KEY, 'not a sorted set');
    await first.beat();
    expect(first.count).toBe(2);
  });

  it('keep no process alive', () => {
    const instances = open();
    const timer = jest.spyOn(globalThis, 'setInterval');
    instances.start();
    expect(timer.mock.results[0]!.value.hasRef()).toBe(false);
  });
});
