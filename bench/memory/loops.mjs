/* The loops in which subjects are asked, and how long a decision takes in them. */
import { freshKey } from '../lib/keys.mjs';
import { ownMillis, turn } from '../lib/time.mjs';

export const HOUR = 3_600_000;

/**
 * Asks `count` times for the keys that `next` numbers, each a fresh string. Those that answer at
 * once have a loop without `await`.
 *
 * @returns how many were allowed
 */
export function askFresh({ ask, isAsync }, next, count) {
  return isAsync ? askFreshAsync(ask, next, count) : askFreshSync(ask, next, count);
}

function askFreshSync(ask, next, count) {
  let allowed = 0;
  for (let i = 0; i < count; i++) if (ask(freshKey(next()))) allowed++;
  return allowed;
}

async function askFreshAsync(ask, next, count) {
  let allowed = 0;
  for (let i = 0; i < count; i++) if (await ask(freshKey(next()))) allowed++;
  return allowed;
}

/** The same with strings that were made before, in turn; as many as a power of two. */
export function askInTurn({ ask, isAsync }, keys, count) {
  return isAsync ? askInTurnAsync(ask, keys, count) : askInTurnSync(ask, keys, count);
}

function askInTurnSync(ask, keys, count) {
  const last = keys.length - 1;
  let allowed = 0;
  for (let i = 0; i < count; i++) if (ask(keys[i & last])) allowed++;
  return allowed;
}

async function askInTurnAsync(ask, keys, count) {
  const last = keys.length - 1;
  let allowed = 0;
  for (let i = 0; i < count; i++) if (await ask(keys[i & last])) allowed++;
  return allowed;
}

/** The same with one string. */
export const askOne = (subject, key, count) => askInTurn(subject, [key], count);

/** The numbers from `first` on, one a call. */
export function counting(first = 0) {
  let i = first;
  return () => i++;
}

/**
 * Nanoseconds a decision: `run(chunk)` again and again, for `warmMillis` uncounted and then for
 * `millis` of this thread's own time.
 */
export async function nanosEach(run, chunk, { warmMillis = 400, millis = 800 } = {}) {
  await repeat(run, chunk, warmMillis);
  return repeat(run, chunk, millis);
}

async function repeat(run, chunk, millis) {
  const began = ownMillis();
  let count = 0;
  let took = 0;
  do {
    await run(chunk);
    await turn();
    count += chunk;
    took = ownMillis() - began;
  } while (took < millis);
  return (took * 1e6) / count;
}

/** Live bytes of this process: its heap after a collection, and its typed arrays. */
export function liveBytes() {
  gc();
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
