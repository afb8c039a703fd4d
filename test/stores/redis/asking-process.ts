import { planCounters } from '../../../src/core/counter-plan.js';
import { Policy } from '../../../src/core/policy.js';
import { RedisStore } from '../../../src/stores/redis/index.js';

/* A process that asks when it is told to: `{ rule, user, calls }`, and tells how many were let in. */

export interface Order {
  readonly rule: string;
  readonly user: string;
  readonly calls: number;
}

export interface Report {
  readonly allowed: number;
  readonly degraded: number;
}

const store = new RedisStore({ url: process.argv[3]! }, { prefix: 'race', timeoutMillis: 5000 });
const policies = new Map<string, Policy>();

async function ask({ rule, user, calls }: Order): Promise<Report> {
  const policy = policies.get(rule) ?? Policy.parse(rule);
  policies.set(rule, policy);
  const plans = planCounters({ policy, place: 'race', label: 'race' });
  const counters = plans.map((plan) => ({ plan, values: [user, '/'] }));
  const entry = { counters, cost: 1, mode: 'take' } as const;
  const outcomes = await Promise.all(
    Array.from({ length: calls }, () => store.decide([entry], Date.now())),
  );
  const decisions = outcomes.map(([outcome]) => outcome!.decision);
  return {
    allowed: decisions.filter((decision) => decision.allowed).length,
    degraded: decisions.filter((decision) => decision.degraded).length,
  };
}

process.on('message', (order: Order) => {
  void ask(order).then((report) => process.send!(report));
});

const announce = () => (store.connected ? process.send!('ready') : setTimeout(announce, 10));
announce();
