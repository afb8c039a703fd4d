import fc from 'fast-check';
import { planCounters } from '../../../src/core/counter-plan.js';
import { type Decision, Policy, type StoreEntry } from '../../../src/core/index.js';
import { RedisStore } from '../../../src/stores/redis/index.js';
import {
  ALGORITHMS,
  FAR_ENDS,
  lineOf,
  play,
  rulesOf,
  starts,
  steps,
  textOf,
} from '../../laws/support.js';
import { ModelPolicy, type RuleNumbers } from '../../model/model.js';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const RUNS = Math.ceil(Number(process.env['REDIS_STEPS'] ?? 100_000) / 1000);
const SEED = Number(process.env['SEED'] ?? 20_260_101);

/** What was asked of the model, and what it answered. */
interface Asked {
  readonly now: number;
  readonly cost: number;
  readonly what: 'peek' | 'take' | { readonly takenAtMillis: number; readonly delta: number };
  readonly answer: string;
}

function playModel(rule: RuleNumbers, start: number, script: Parameters<typeof play>[2]): Asked[] {
  const model = new ModelPolicy([rule]);
  const asked: Asked[] = [];
  let taken: { at: number; cost: number } | undefined;
  play([rule], start, script, (now, cost, { pick }) => {
    if (taken && pick % 5 === 0) {
      const delta = pick % 2 === 0 ? -(1 + (pick % taken.cost)) : 1 + (pick % 7);
      const dropped = delta > 0 ? model.charge(delta, now) : 0;
      if (delta < 0) model.giveBack(-delta, taken.at, now);
      const what = { takenAtMillis: taken.at, delta };
      asked.push({ now, cost: taken.cost, what, answer: `${dropped}` });
      taken = undefined;
    }
    asked.push({ now, cost, what: 'peek', answer: lineOf(model.peek(now, cost)) });
    const answer = model.tryAcquire(now, cost);
    asked.push({ now, cost, what: 'take', answer: lineOf(answer) });
    if (answer.allowed && cost > 0) taken = { at: now, cost };
    return answer;
  });
  return asked;
}

describeWithRedis('the Redis store beside the model in big integers', () => {
  let server: RedisServer;
  let store: RedisStore;
  let runs = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    const url = `redis://127.0.0.1:${server.port}`;
    store = new RedisStore({ url }, { prefix: 'test', time: 'clock', timeoutMillis: 5000 });
    await until('the store is connected', () => store.connected);
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  async function ask(entry: Omit<StoreEntry, 'mode'>, { now, what }: Asked): Promise<string> {
    if (typeof what === 'string') {
      const [outcome] = await store.decide([{ ...entry, mode: what }], now);
      const { degraded, ...decision } = outcome!.decision as Decision;
      return degraded ? 'degraded' : lineOf(decision);
    }
    const { takenAtMillis, delta } = what;
    return `${await store.settle({ entry: { ...entry, mode: 'take' }, takenAtMillis }, delta, now)}`;
  }

  /** All at once, in the order of their times; or one by one, when refusals are remembered. */
  async function compare(rule: RuleNumbers, start: number, script: Parameters<typeof play>[2]) {
    const policy = Policy.parse(textOf([rule]));
    const [plan] = planCounters({ policy, place: 'model', label: 'model' });
    const counters = [{ plan: plan!, values: [`run ${++runs}`] }];
    const asked = playModel(rule, start, script);
    const told: string[] = [];
    if (runs % 2 === 0) {
      told.push(...(await Promise.all(asked.map((one) => ask({ counters, cost: one.cost }, one)))));
    } else for (const one of asked) told.push(await ask({ counters, cost: one.cost }, one));
    expect(told).toEqual(asked.map(({ answer }) => answer));
  }

  it.each(ALGORITHMS)(
    'answers as the model does: %s',
    async (algorithm) => {
      const runsOf = fc.asyncProperty(rulesOf(algorithm), starts, steps, compare);
      await fc.assert(runsOf, { seed: SEED, numRuns: RUNS });
    },
    600_000,
  );

  // ioredis rounds integers within 57 of 2^53 when it reads them.
  const KEPT = FAR_ENDS.filter(({ limit }) => limit < 2 ** 53 - 64);
  it.each(KEPT)(
    'answers as the model does at the far ends: $limit per $windowMillis ms, $algorithm',
    async (rule) => {
      const runsOf = fc.asyncProperty(starts, steps, (start, script) =>
        compare(rule, start, script),
      );
      await fc.assert(runsOf, { seed: SEED, numRuns: Math.ceil(RUNS / 20) });
    },
    600_000,
  );
});
