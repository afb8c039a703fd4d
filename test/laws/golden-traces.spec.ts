import { linesOf, TRACES, type Trace } from '../../src/testing/contract/traces.js';
import type { Door } from './support.js';
import { keyed, single } from './support.js';

/** Midnights of two worlds: the epoch, and the first of January 2026. */
const MIDNIGHTS = [0, 1_767_225_600_000];

interface Call {
  readonly at: number;
  readonly cost: number;
}

interface Told {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMillis: number;
}

function replayed(trace: Trace, answer: (call: Call) => Told): readonly string[] {
  return linesOf(trace).map((line) => {
    const [at, cost] = line.split(' ');
    const told = answer({ at: Number(at), cost: Number(cost) });
    const retry = Number.isFinite(told.retryAfterMillis) ? told.retryAfterMillis : 'never';
    return `${at} ${cost} → ${told.allowed ? 'yes' : 'no'} ${told.remaining} ${retry}`;
  });
}

function throughDoor(trace: Trace, door: Door, midnight: number): readonly string[] {
  const subject = door(trace.rule, midnight);
  return replayed(trace, ({ at, cost }) => {
    subject.clock.set(midnight + at);
    return subject.tryAcquire(cost);
  });
}

describe.each(MIDNIGHTS)('from midnight at %d on, the golden trace', (midnight) => {
  it.each(TRACES)('of $rule is what a limiter says', (trace) => {
    expect(throughDoor(trace, single, midnight)).toEqual(linesOf(trace));
  });

  it.each(TRACES)('of $rule is what a keyed limiter says', (trace) => {
    expect(throughDoor(trace, keyed, midnight)).toEqual(linesOf(trace));
  });
});
