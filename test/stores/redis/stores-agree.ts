import type { Counter, CounterPlan } from '../../../src/core/counter-plan.js';
import { planCounters } from '../../../src/core/counter-plan.js';
import type { Outcome, RateLimitStore } from '../../../src/core/index.js';
import { MemoryStore, Policy } from '../../../src/core/index.js';

/** Whole numbers from 0 to below n, the same for the same seed (xorshift32). */
export function randomOf(seed: number): (n: number) => number {
  let state = seed | 0 || 1;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

export const START = 1_700_000_000_000;
const USERS = ['alice', 'bob', ''];

/** Fresh plans: two stores may not share them, as each notes on a plan what it knows of it. */
function plansOf(texts: readonly string[], place: string): CounterPlan[][] {
  return texts.map((text, i) => [
    ...planCounters({ policy: Policy.parse(text), place: `${place}${i}`, label: 'test' }),
  ]);
}

/** One thing that is done to a store. */
interface Deed {
  readonly kind: 'take' | 'peek' | 'settle' | 'reset' | 'block';
  readonly counters: readonly { readonly policy: number; readonly user: string }[];
  readonly number: number;
}

interface Side {
  readonly store: RateLimitStore;
  readonly plans: CounterPlan[][];
  /** Of the last take that was let in. */
  receipt: Outcome | undefined;
}

interface Answered {
  readonly text: string;
  readonly receipt?: Outcome | undefined;
}

export interface Run {
  readonly rules: readonly string[];
  readonly steps: number;
  readonly seed: number;
  /** Keys of another run in the same Redis are none of this one's. */
  readonly place: string;
}

/**
 * Does the same random things to both stores, several at once, and compares every answer. Answers
 * the first difference as text, or how many decisions were equal.
 */
export async function firstDifference(
  store: RateLimitStore,
  { rules, steps, seed, place }: Run,
): Promise<number | string> {
  const random = randomOf(seed);
  const ours: Side = { store, plans: plansOf(rules, place), receipt: undefined };
  const memory: Side = {
    store: new MemoryStore(),
    plans: plansOf(rules, place),
    receipt: undefined,
  };
  let now = START + random(1_000_000);
  let decided = 0;
  while (decided < steps) {
    now += pause(random);
    const deeds = Array.from({ length: 1 + random(12) }, () => deed(random, rules.length, memory));
    let next = [ours.receipt, memory.receipt];
    const answers = await Promise.all(deeds.map((one) => act(ours, one, now)));
    for (const [i, one] of deeds.entries()) {
      const expected = await act(memory, one, now);
      const answer = answers[i]!;
      if (answer.text !== expected.text) {
        const where = `seed ${seed}, ${rules.join(' | ')}, at ${now - START}, after ${decided}`;
        return `${where}: ${JSON.stringify(one)}\n  it says      ${answer.text}\n  memory says  ${expected.text}`;
      }
      if (expected.receipt) next = [answer.receipt, expected.receipt];
    }
    [ours.receipt, memory.receipt] = next;
    decided += deeds.length;
  }
  return decided;
}

function pause(random: (n: number) => number): number {
  return [0, 0, 1, random(20), random(500), random(3000)][random(6)]!;
}

function deed(random: (n: number) => number, policies: number, { receipt }: Side): Deed {
  const one = () => ({ policy: random(policies), user: USERS[random(USERS.length)]! });
  const first = one();
  const second = one();
  const joint = random(5) === 0 && (second.policy !== first.policy || second.user !== first.user);
  const counters = joint ? [first, second] : [first];
  const dice = random(40);
  const cost = [1, 1, 1, 1, 2, 3, 0, 1000][random(8)]!;
  if (dice < 28) return { kind: 'take', counters, number: cost };
  if (dice < 34) return { kind: 'peek', counters, number: cost };
  if (dice < 38 && receipt) return { kind: 'settle', counters, number: random(7) - 4 };
  if (dice === 38) return { kind: 'reset', counters, number: 0 };
  return { kind: 'block', counters, number: [0, 1, 700, 4000][random(4)]! };
}

async function act(side: Side, { kind, counters, number }: Deed, now: number): Promise<Answered> {
  const { store, plans, receipt } = side;
  const these: Counter[] = counters.flatMap(({ policy, user }) =>
    plans[policy]!.map((plan) => ({ plan, values: [user, '/orders'] })),
  );
  if (kind === 'reset') return { text: String(await store.reset(these)) };
  if (kind === 'block') {
    return { text: String(await store.block(these, number && now + number, now)) };
  }
  if (kind === 'settle') return { text: `settled ${await store.settle(receipt!, number, now)}` };
  const [outcome] = await store.decide([{ counters: these, cost: number, mode: kind }], now);
  const { takenAtMillis, decision } = outcome!;
  const { rules, ...numbers } = decision;
  const text = JSON.stringify([takenAtMillis, numbers, rules]);
  const taken = decision.allowed && kind === 'take' && number > 0;
  return { text, receipt: taken ? outcome : undefined };
}
