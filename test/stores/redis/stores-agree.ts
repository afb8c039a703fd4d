import type { Decision, Outcome, RateLimitStore } from '../../../src/core/index.js';
import { MemoryStore } from '../../../src/core/index.js';
import {
  countersOf,
  type Deed,
  Deeds,
  type Plans,
  plansOf,
  randomOf,
  type Texts,
} from './deeds.js';

export { randomOf };

export const START = 1_700_000_000_000;

interface Side {
  readonly store: RateLimitStore;
  readonly plans: Plans;
  /** Of the last take that was let in. */
  receipt: Outcome | undefined;
}

interface Answered {
  readonly text: string;
  readonly receipt?: Outcome | undefined;
  readonly decision?: Decision;
}

export interface Run {
  readonly rules: readonly Texts[];
  readonly steps: number;
  readonly seed: number;
  /** Keys of another run in the same Redis are none of this one's. */
  readonly place: string;
  /**
   * Of a cluster: joined counters of two users are in two slots, and asked one after another; what
   * is asked in the same tick may come in between, so then one waits for the other.
   */
  readonly cluster?: boolean;
}

/**
 * Does the same random things to both stores, several at once, and compares every answer. Answers
 * the first difference as text, or how many decisions were equal.
 */
export async function firstDifference(
  store: RateLimitStore,
  { rules, steps, seed, place, cluster = false }: Run,
): Promise<number | string> {
  const random = randomOf(seed);
  const ours: Side = { store, plans: plansOf(rules, place), receipt: undefined };
  const memory: Side = {
    store: new MemoryStore(),
    plans: plansOf(rules, place),
    receipt: undefined,
  };
  const deeds = new Deeds(random, memory.plans);
  let now = START + random(1_000_000);
  let decided = 0;
  let last: Decision | undefined;
  while (decided < steps) {
    now += deeds.pause(last);
    const taken = memory.receipt?.entry.cost;
    const these = Array.from({ length: 1 + random(12) }, () => deeds.next(taken));
    const answers = await actAll(ours, these, now, cluster && these.some(isWide));
    let next = [ours.receipt, memory.receipt];
    for (const [i, one] of these.entries()) {
      const expected = await act(memory, one, now);
      const answer = answers[i]!;
      if (answer.text !== expected.text) {
        const where = `seed ${seed}, ${rules.join(' | ')}, at ${now - START}, after ${decided}`;
        return `${where}: ${JSON.stringify(one)}\n  it says      ${answer.text}\n  memory says  ${expected.text}`;
      }
      last = expected.decision ?? last;
      if (expected.receipt) next = [answer.receipt, expected.receipt];
    }
    [ours.receipt, memory.receipt] = next;
    decided += these.length;
  }
  return decided;
}

function isWide({ asked, kind }: Deed): boolean {
  return kind === 'take' && new Set(asked.map(({ user }) => user)).size > 1;
}

async function actAll(
  side: Side,
  deeds: readonly Deed[],
  now: number,
  inTurn: boolean,
): Promise<readonly Answered[]> {
  if (!inTurn) return Promise.all(deeds.map((one) => act(side, one, now)));
  const answers: Answered[] = [];
  for (const one of deeds) answers.push(await act(side, one, now));
  return answers;
}

/** What fails is an answer too: the memory store never does. */
function act(side: Side, deed: Deed, now: number): Promise<Answered> {
  return perform(side, deed, now).catch((error) => ({ text: String(error) }));
}

async function perform(side: Side, deed: Deed, now: number): Promise<Answered> {
  const { store, plans, receipt } = side;
  const { kind, number } = deed;
  const counters = countersOf(plans, deed);
  if (kind === 'reset') return { text: String(await store.reset(counters)) };
  if (kind === 'block') {
    return { text: String(await store.block(counters, number && now + number, now)) };
  }
  if (kind === 'settle') return { text: `settled ${await store.settle(receipt!, number, now)}` };
  const [outcome] = await store.decide([{ counters, cost: number, mode: kind }], now);
  const { takenAtMillis, decision } = outcome!;
  const { rules, ...numbers } = decision;
  const text = JSON.stringify([takenAtMillis, numbers, rules]);
  const taken = decision.allowed && kind === 'take' && number > 0;
  return { text, decision, receipt: taken ? outcome : undefined };
}
