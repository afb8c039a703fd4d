/* Anything in any order: the same answers as from the memory store, to the last number. */
import { type Decision, MemoryStore, type Outcome, type StoreEntry } from '../../core/index.js';
import { same } from './check.js';
import { type Case, Subject } from './subject.js';

const STEPS = 200;

const RULES: Readonly<Record<string, readonly string[]>> = {
  'token buckets': ['token-bucket,5,10', 'token-bucket,7,1,burst=3', 'token-bucket,1000,7ms'],
  'fixed windows': ['fixed-window,3,2', 'fixed-window,9,1'],
  'sliding windows': ['sliding-window,5,2', 'sliding-window,1,50ms'],
  'sliding window counters': ['sliding-window-counter,4,1', 'sliding-window-counter,9,3'],
  'joined rules': [
    'token-bucket,5,10 & fixed-window,8,20',
    'sliding-window,3,2 & sliding-window-counter,5,3 & token-bucket,4,1',
  ],
};

/** Whole numbers from 0 to below n, the same on every run (xorshift32). */
function dice(): (n: number) => number {
  let state = 20_260_101;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

interface Step {
  readonly kind: 'take' | 'peek' | 'settle' | 'reset' | 'block';
  readonly policy: string;
  readonly user: string;
  readonly number: number;
}

function stepOf(random: (n: number) => number, rules: readonly string[]): Step {
  const policy = rules[random(rules.length)]!;
  const user = ['alice', 'bob', ''][random(3)]!;
  const which = random(40);
  if (which < 33) {
    const kind = which < 27 ? 'take' : 'peek';
    return { kind, policy, user, number: [1, 1, 1, 2, 3, 0, 1000][random(7)]! };
  }
  if (which < 37) return { kind: 'settle', policy, user, number: random(7) - 4 };
  if (which === 37) return { kind: 'reset', policy, user, number: 0 };
  return { kind: 'block', policy, user, number: [0, 1, 700, 4000][random(4)]! };
}

/** One of both stores, and the receipt of its last take. */
class Side {
  private receipt: Outcome | undefined;

  constructor(readonly subject: Subject) {}

  async act({ kind, policy, user, number }: Step, at: number): Promise<Decision | number | string> {
    const { subject } = this;
    const values = [user, '/orders'];
    if (kind === 'reset') {
      await subject.store.reset(subject.counters(policy, values));
      return 'reset';
    }
    if (kind === 'block') {
      const until = number === 0 ? 0 : subject.moment(at + number);
      await subject.store.block(subject.counters(policy, values), until, subject.moment(at));
      return 'blocked';
    }
    if (kind === 'settle') {
      const { receipt } = this;
      this.receipt = undefined;
      return receipt ? subject.settle(receipt, number, at) : 'no receipt';
    }
    const entry: StoreEntry = { ...subject.entry(policy, number, values), mode: kind };
    const outcome = await subject.ask(entry, at);
    if (outcome.decision.allowed && kind === 'take' && number > 0) this.receipt = outcome;
    return outcome.decision;
  }
}

async function walk(subject: Subject, rules: readonly string[]): Promise<void> {
  const random = dice();
  const memory = new MemoryStore({ maxKeys: 1000 });
  // Plans of their own: a store may note on a plan what it knows of it.
  const sides = [new Side(subject), new Side(new Subject(memory, 'memory'))] as const;
  let at = random(1_000_000);
  for (let i = 0; i < STEPS; i++) {
    at += [0, 0, 1, random(20), random(500), random(3000)][random(6)]!;
    const step = stepOf(random, rules);
    const [got, expected] = [await sides[0].act(step, at), await sides[1].act(step, at)];
    same(`step ${i}, ${at} ms: ${JSON.stringify(step)}`, got, expected);
  }
  memory.close();
}

export const RANDOM_STEPS: readonly Case[] = Object.entries(RULES).map(([name, rules]) => [
  `${name}: ${STEPS} random steps are answered as by the memory store`,
  (subject) => walk(subject, rules),
]);
