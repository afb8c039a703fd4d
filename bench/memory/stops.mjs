/*
 * The longest stop: how long at most nothing else could run, while the keys come in, while more
 * come than fit, and when all expire. Beside it a control that does the same and limits nothing.
 *
 * Keys are asked for in small batches, with a turn of the event loop between them: so small that what
 * each key costs by itself (the first in a page of memory, some microseconds) does not add up to a
 * stop. The stop is the longest time from the end of one batch to the end of the next, less that of
 * a typical batch; time in which other processes had the core is left out (see lib/time.mjs).
 */

import { median } from '../lib/rounds.mjs';
import { atMost, goalRow, PRODUCT, row } from '../lib/rows.mjs';
import { ownMillis, turn } from '../lib/time.mjs';
import { askFresh, counting, HOUR } from './loops.mjs';
import { CONTROL, createSubject, PEER_NAMES, PEERS } from './subjects.mjs';

const BATCH = 50;
const SIZES = { '1M': 1_000_000, '10M': 10_000_000 };
const PEER_WINDOW = 6000;
/** These do something when a window has passed; the others wait for the key to be asked again. */
const EXPIRING = [PEERS.express, PEERS.flexible, PEERS.throttler];

const ours = Object.keys(SIZES).flatMap((size) => [`${CONTROL} ${size}`, `${PRODUCT} ${size}`]);
const peers = PEER_NAMES.map((name) => ({ name: `${name} 1M`, rounds: 1 }));

export const subjects = [...ours, ...peers];
export const rounds = 5;
export const budgetSeconds = 120;

export async function measure(subject, scale) {
  const [name, size] = subject.split(' ');
  // Code is loaded and compiled before: that is no stop of a table's.
  const warm = await createSubject(name, { limit: 5, windowMillis: HOUR, capacity: 1024 });
  await askFresh(warm, counting(), 20_000);
  const keys = Math.round(SIZES[size] * scale);
  const stop = PEER_NAMES.includes(name)
    ? await measurePeer(name, keys)
    : await measureOurs(name, keys);
  return { stop };
}

/** A clock that can jump, so that everything expires at once and the same decisions go on. */
async function jumpingClock() {
  const { SystemClock } = await import('../../dist/esm/core/index.js');
  return new (class extends SystemClock {
    jumped = 0;
    nowMillis() {
      return super.nowMillis() + this.jumped;
    }
  })();
}

async function measureOurs(name, keys) {
  const clock = await jumpingClock();
  const subject = await createSubject(name, {
    limit: 5,
    windowMillis: HOUR,
    capacity: keys,
    clock,
    algorithm: 'fixed-window',
  });
  const filling = await batches(subject, 0, keys);
  const flooding = await batches(subject, keys, keys / 4);
  clock.jumped += 2 * HOUR;
  const idle = await longestDelay(ownMillis() + 300);
  const after = await batches(subject, 0, keys / 4);
  return Math.max(filling, flooding, idle, after);
}

/** Without a flood: what has no bound only fills further, until the process ends. */
async function measurePeer(name, keys) {
  const end = ownMillis() + 2 * PEER_WINDOW + 1000;
  const subject = await createSubject(name, {
    limit: 5,
    windowMillis: PEER_WINDOW,
    capacity: keys,
    sweepMillis: PEER_WINDOW,
  });
  const filling = await batches(subject, 0, keys);
  return EXPIRING.includes(name) ? Math.max(filling, await longestDelay(end)) : filling;
}

/** The longest stop while `count` keys from `first` on are asked for. */
async function batches(subject, first, count) {
  const next = counting(first);
  const took = [];
  let last = ownMillis();
  for (let asked = 0; asked < count; asked += BATCH) {
    await askFresh(subject, next, BATCH);
    await turn();
    const now = ownMillis();
    took.push(now - last);
    last = now;
  }
  return took.reduce((longest, one) => Math.max(longest, one), 0) - median(took);
}

/** The longest delay of a timer until that moment. */
async function longestDelay(end) {
  let longest = 0;
  for (let last = ownMillis(); last < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = ownMillis();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }
  return longest;
}

export function report(results) {
  const rows = Object.keys(SIZES).flatMap((size) => {
    const work = `longest stop, ${size} keys`;
    const control = results.median(`${CONTROL} ${size}`, 'stop');
    const own = results.median(`${PRODUCT} ${size}`, 'stop');
    const { met } = atMost(control + 1);
    const goal = { text: '≤ control + 1 ms', met };
    return [
      goalRow(work, PRODUCT, own, 'ms', goal),
      row(work, CONTROL, control, 'ms'),
      ...(size === '1M' ? peerRows(work, results, own) : []),
    ];
  });
  return rows;
}

function peerRows(work, results) {
  return PEER_NAMES.map((name) => row(work, name, results.median(`${name} 1M`, 'stop'), 'ms'));
}
