import type { Counter, CounterPlan } from '../../../src/core/counter-plan.js';
import { planCounters } from '../../../src/core/counter-plan.js';
import { type Decision, Policy } from '../../../src/core/index.js';

/** Whole numbers from 0 to below n, the same for the same seed (xorshift32). */
export function randomOf(seed: number): Random {
  let state = seed | 0 || 1;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
}

export type Random = (n: number) => number;

/** A policy's text, or texts that one place has had one after another: reloaded with other limits. */
export type Texts = string | readonly string[];

/** The plans of each policy, of each text that it has had. */
export type Plans = readonly (readonly (readonly CounterPlan[])[])[];

const USERS = ['alice', 'bob', ''];

/** Fresh plans: two stores may not share them, as each notes on a plan what it knows of it. */
export function plansOf(rules: readonly Texts[], place: string): Plans {
  return rules.map((texts, i) =>
    [texts]
      .flat()
      .map((text) => [
        ...planCounters({ policy: Policy.parse(text), place: `${place}${i}`, label: 'test' }),
      ]),
  );
}

/** Whose counters of which policy, under the text that is in force. */
export interface Asked {
  readonly policy: number;
  readonly text: number;
  readonly user: string;
}

/** One thing that is done to a store. */
export interface Deed {
  readonly kind: 'take' | 'peek' | 'settle' | 'reset' | 'block';
  readonly asked: readonly Asked[];
  readonly number: number;
}

export function countersOf(plans: Plans, { asked }: Deed): Counter[] {
  return asked.flatMap(({ policy, text, user }) =>
    plans[policy]![text]!.map((plan) => ({ plan, values: [user, '/orders'] })),
  );
}

/** Makes deeds at random; the texts in force change now and then, and old ones linger. */
export class Deeds {
  private readonly inForce: number[];

  constructor(
    private readonly random: Random,
    private readonly plans: Plans,
  ) {
    this.inForce = plans.map(() => 0);
  }

  /** @param last of what was decided: the moments that it tells are where mistakes show */
  pause(last: Decision | undefined): number {
    const { random } = this;
    const { retryAfterMillis = 0, moreAfterMillis = 0, resetAfterMillis = 0 } = last ?? {};
    const told = [retryAfterMillis, moreAfterMillis, resetAfterMillis][random(3)]!;
    const soon = told > 0 && told < 20_000 ? told : 1;
    return [0, 0, 1, random(20), random(500), random(3000), soon, soon - 1][random(8)]!;
  }

  /** @param taken what the last take that was let in took; undefined when there was none */
  next(taken: number | undefined): Deed {
    const { random } = this;
    if (random(60) === 0) {
      const policy = random(this.plans.length);
      this.inForce[policy] = random(this.plans[policy]!.length);
    }
    const [first, second] = [this.asked(), this.asked()];
    const other = second.policy !== first.policy || second.user !== first.user;
    const asked = random(5) === 0 && other ? [first, second] : [first];
    const dice = random(40);
    if (dice < 28) return { kind: 'take', asked, number: this.cost(asked) };
    if (dice < 34) return { kind: 'peek', asked, number: this.cost(asked) };
    if (dice < 38 && taken !== undefined) {
      // As in rules.ts: what is dropped of a charge comes back as an integer that ioredis reads.
      const more = Math.min(random(3) * taken, 2 ** 53 - 65);
      const number = [random(7) - 4, -taken, -1 - random(taken), more][random(4)]!;
      return { kind: 'settle', asked, number };
    }
    if (dice === 38) return { kind: 'reset', asked, number: 0 };
    return { kind: 'block', asked, number: [0, 1, 700, 4000][random(4)]! };
  }

  private asked(): Asked {
    const { random, inForce } = this;
    const policy = random(inForce.length);
    // An instance that has not been reloaded yet asks under the old text.
    const text = random(20) === 0 ? random(this.plans[policy]!.length) : inForce[policy]!;
    return { policy, text, user: USERS[random(USERS.length)]! };
  }

  /** Mostly small; else what the smaller capacity holds, or one more, or what only the larger holds. */
  private cost(asked: readonly Asked[]): number {
    const { random } = this;
    const dice = random(12);
    if (dice < 8) return [1, 1, 1, 1, 2, 3, 0, 1000][dice]!;
    const capacities = asked
      .flatMap(({ policy, text }) => this.plans[policy]![text]!)
      .map(({ algorithm }) => algorithm.capacity);
    const [least, most] = [Math.min(...capacities), Math.max(...capacities)];
    if (dice === 8) return least;
    if (dice === 9) return Math.floor((least * random(1001)) / 1000);
    return dice === 10 ? Math.min(least + 1, most) : most + random(2);
  }
}
