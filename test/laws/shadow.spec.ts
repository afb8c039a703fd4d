import fc from 'fast-check';
import { type CounterPlan, planCounters } from '../../src/core/counter-plan.js';
import { Faults } from '../../src/core/fault.js';
import { type Decision, MemoryStore, Policy } from '../../src/core/index.js';
import type { CurrentRules } from '../../src/nest/current-rules.js';
import { Deciding } from '../../src/nest/deciding.js';
import { type DecisionEvent, RateLimitEvents } from '../../src/nest/events.js';
import type { Taken } from '../../src/nest/settlements.js';
import { Warnings } from '../../src/nest/warnings.js';
import { FakeClock } from '../../src/testing/index.js';
import { ALGORITHMS, holdsInTime } from './support.js';

const START = 1_700_000_040_000;
const ASKER = { userId: 'alice', address: undefined, api: 'api' };

/** A request: after how long, what it takes, and what it turns out to cost, if that is said. */
interface Request {
  readonly wait: number;
  readonly cost: number;
  readonly actual: number | undefined;
}

/** A rule without its name and mode. */
const rule = fc
  .tuple(fc.constantFrom(...ALGORITHMS), fc.integer({ min: 1, max: 9 }), fc.constantFrom(1, 2, 5))
  .map(([algorithm, limit, window]) => `${algorithm},${limit},${window}`);

const rules = fc.array(rule, { minLength: 1, maxLength: 3 });

const requests = fc.array(
  fc.record({
    wait: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.integer({ min: 1, max: 700 }) },
      { weight: 1, arbitrary: fc.constantFrom(1000, 2000, 5000) },
    ),
    cost: fc.integer({ min: 0, max: 4 }),
    actual: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined, freq: 3 }),
  }),
  { minLength: 1, maxLength: 40 },
);

const named = (texts: readonly string[], name: string, mode: string) =>
  texts.map((text, i) => `${text},name=${name}-${i},mode=${mode}`);

const plansOf = (texts: readonly string[]): readonly CounterPlan[] =>
  texts.length === 0
    ? []
    : planCounters({ policy: Policy.of(texts.join(' & ')), place: 'law', label: 'law' });

/** A module that has these rules, on a store and a clock of its own. */
function open(texts: readonly string[], mode: 'enforce' | 'shadow' = 'enforce') {
  const clock = new FakeClock(START);
  const events = new RateLimitEvents();
  const told: DecisionEvent[] = [];
  events.decisions.subscribe((event) => told.push(event));
  const wouldRefuse: Decision[] = [];
  events.stream.subscribe((event) => {
    if (event.type === 'would-refuse') wouldRefuse.push(event.decision);
  });
  const deciding = new Deciding({
    store: new MemoryStore({ maxKeys: 1000 }),
    clock,
    rules: { now: { mode } } as CurrentRules,
    events,
    warnings: new Warnings(),
    maxWaiters: 10,
    warnAt: undefined,
    faults: new Faults(),
  });
  const counters = plansOf(texts).map((plan) => ({ plan, values: ['alice', 'api'] }));
  const ask = async ({ cost, actual }: Request): Promise<Decision> => {
    const taken: Taken[] = [];
    const keep = (one: Taken) => taken.push(one);
    const decision = await deciding.take(counters, ASKER, cost, { keep });
    if (actual !== undefined) await Promise.all(taken.map((one) => one.settle(actual)));
    return decision;
  };
  return { clock, ask, told, wouldRefuse };
}

/** What a rule says, alone and in force, to these requests. */
async function alone(text: string, all: readonly (Request & { readonly at: number })[]) {
  const { clock, ask } = open([text]);
  const answers: Decision[] = [];
  for (const request of all) {
    clock.set(request.at);
    answers.push(await ask(request));
  }
  return answers;
}

describe('a rule in shadow mode', () => {
  it('changes no decision, and counts as it would alone what the others let in', async () => {
    let wouldRefuse = 0;
    let refused = 0;
    const law = fc.asyncProperty(fc.option(rules), rules, requests, async (some, tried, all) => {
      const enforced = named(some ?? [], 'enforced', 'enforce');
      const shadow = named(tried, 'tried', 'shadow');
      const without = open(enforced);
      // Whatever stands first: rules in shadow mode take no part.
      const within = open([...shadow.slice(0, 1), ...enforced, ...shadow.slice(1)]);
      const letIn: (Request & { readonly at: number })[] = [];
      for (const request of all) {
        without.clock.advance(request.wait);
        within.clock.advance(request.wait);
        const decision = await within.ask(request);
        expect(decision).toEqual(await without.ask(request));
        if (decision.allowed) letIn.push({ ...request, at: within.clock.nowMillis() });
        else refused++;
      }
      for (const [i, text] of tried.entries()) {
        const told = within.told.filter(({ decision }) => decision.policy === `tried-${i}`);
        expect(told.every((event) => event.shadow)).toBe(true);
        const inForce = `${text},name=tried-${i}`;
        const answers = await alone(inForce, letIn);
        expect(told.map(({ decision }) => decision)).toEqual(answers);
      }
      const refusals = within.told.filter((event) => event.shadow && !event.decision.allowed);
      expect(within.wouldRefuse).toEqual(refusals.map(({ decision }) => decision));
      wouldRefuse += refusals.length;
    });
    await holdsInTime(300, law);
    expect(wouldRefuse).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(500);
  });
});

describe('a module in shadow mode', () => {
  it('lets everybody in, and tells what it would have said in force', async () => {
    const law = fc.asyncProperty(rules, requests, async (some, all) => {
      const enforced = named(some, 'enforced', 'enforce');
      const inForce = open(enforced);
      const inShadow = open(enforced, 'shadow');
      const answers: Decision[] = [];
      for (const request of all) {
        inForce.clock.advance(request.wait);
        inShadow.clock.advance(request.wait);
        answers.push(await inForce.ask(request));
        expect(await inShadow.ask(request)).toMatchObject({ allowed: true, policy: 'unlimited' });
      }
      expect(inShadow.told.map(({ decision }) => decision)).toEqual(answers);
      expect(inShadow.wouldRefuse).toEqual(answers.filter(({ allowed }) => !allowed));
    });
    await holdsInTime(200, law);
  });
});
