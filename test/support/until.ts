// Not the global ones: a suite may have put false time in their place.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';

type Truthy<T> = Exclude<T, false | null | undefined>;

/** The first answer that is not empty or false. An error counts as "not yet". */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  withinMillis = 10_000,
): Promise<Truthy<T>> {
  const deadline = performance.now() + withinMillis;
  let cause: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await ask();
      if (answer) return answer as Truthy<T>;
    } catch (error) {
      cause = error;
    }
    await pause(10);
  }
  throw new Error(`Waited ${withinMillis} ms in vain until ${what}`, { cause });
}
