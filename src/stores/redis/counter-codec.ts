/*
 * What the scripts and this side tell each other about the counters of one rule: the numbers of the
 * rule, and how the numbers of a counter come back. A reply holds them as they were before the
 * take, and the same arithmetic as in memory makes the decisions of it: so both stores answer the
 * same, step for step, and a script need not know what a hint is.
 */
import type { Algorithm, Cells } from '../../core/algorithms/index.js';
import { floorDiv, gcd } from '../../core/algorithms/integers.js';
import type { Rule } from '../../core/rule.js';
import type { AlgorithmName } from '../../core/rule-fields.js';
import { RemoteLog } from './remote-log.js';

export interface CounterCodec {
  /** Under which the algorithm puts itself in the scripts. */
  readonly number: number;
  /** How many numbers of a counter a reply holds. */
  readonly width: number;
  /** What makes decisions of the numbers that `load` has written. */
  readonly algorithm: Algorithm;
  /** Writes the numbers of a reply, from `at` on, as the cells of the algorithm. */
  load(reply: readonly number[], at: number, now: number, cells: Cells): void;
  /** Until when the cells tell all, if nothing is taken meanwhile. */
  knownUntil(cells: Cells): number;
}

const always = () => Number.POSITIVE_INFINITY;

const CODECS: Readonly<
  Record<AlgorithmName, (rule: Rule, algorithm: Algorithm, pace: Pace) => CounterCodec>
> = {
  'token-bucket': (_rule, algorithm, { pace }) => ({
    number: 1,
    width: 1,
    algorithm,
    load(reply, at, now, cells) {
      const debt = reply[at]!;
      const whole = floorDiv(debt, pace);
      const part = debt - whole * pace;
      cells[0] = now + whole + (part > 0 ? 1 : 0);
      cells[1] = part > 0 ? (pace - part) / pace : 0;
    },
    knownUntil: always,
  }),

  'fixed-window': (_rule, algorithm) => ({
    number: 2,
    width: 2,
    algorithm,
    load(reply, at, now, cells) {
      const count = reply[at]!;
      cells[0] = count > 0 ? now + reply[at + 1]! : 0;
      cells[1] = count;
    },
    knownUntil: always,
  }),

  'sliding-window-counter': ({ windowMillis }, algorithm) => ({
    number: 3,
    width: 3,
    algorithm,
    load(reply, at, now, cells) {
      const previous = reply[at]!;
      const current = reply[at + 1]!;
      const end = now + reply[at + 2]!;
      cells[0] = current > 0 ? end + windowMillis : previous > 0 ? end : 0;
      cells[1] = current;
      cells[2] = previous;
    },
    knownUntil: always,
  }),

  'sliding-window': ({ limit, windowMillis }) => ({
    number: 4,
    width: 4,
    algorithm: new RemoteLog(limit, windowMillis),
    load(reply, at, now, cells) {
      const count = reply[at]!;
      cells[0] = count > 0 ? reply[at + 2]! + windowMillis : 0;
      cells[1] = count;
      cells[2] = count > 0 ? reply[at + 1]! + windowMillis : 0;
      cells[3] = now + reply[at + 3]!;
    },
    knownUntil: (cells) => (cells[1] === 0 ? Number.POSITIVE_INFINITY : cells[2]!),
  }),
};

/** A token is `unit` units, a millisecond earns `pace` of them: Q and P of token-bucket.ts. */
interface Pace {
  readonly pace: number;
  readonly unit: number;
}

export function codecOf(rule: Rule, algorithm: Algorithm): CounterCodec {
  return CODECS[rule.algorithm](rule, algorithm, paceOf(rule));
}

/** The numbers of a rule in the order in which the scripts read them. */
export function ruleNumbers(rule: Rule, { capacity, fillMillis }: Algorithm): string[] {
  const { pace, unit } = paceOf(rule);
  const { limit, windowMillis } = rule;
  return [limit, windowMillis, pace, unit, capacity * unit, fillMillis].map(String);
}

function paceOf({ limit, windowMillis }: Rule): Pace {
  const g = gcd(limit, windowMillis);
  return { pace: limit / g, unit: windowMillis / g };
}
