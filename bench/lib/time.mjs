/*
 * Time that is this thread's own.
 *
 * On a shared machine a thread that could run often waits for a core, for milliseconds at a time,
 * and that says nothing of the code under test. Linux counts such waiting for every thread
 * (the second number of /proc/thread-self/schedstat), so it is taken off: what is left is work,
 * garbage collection and whatever the code itself waits for. Elsewhere this is plain wall time.
 */
import { openSync, readSync } from 'node:fs';

const file = openWaits();
const bytes = Buffer.alloc(64);

function openWaits() {
  try {
    return openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
}

/** Milliseconds this thread has waited for a core so far. */
function waitedMillis() {
  if (file === undefined) return 0;
  const text = bytes.latin1Slice(0, readSync(file, bytes, 0, bytes.length, 0));
  return Number(text.split(' ')[1]) / 1e6;
}

/** Milliseconds of a clock that stands still while this thread waits for a core. */
export function ownMillis() {
  return performance.now() - waitedMillis();
}

/** Lets the event loop go round: timers and the garbage collector's tasks have their turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));
