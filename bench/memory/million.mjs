/*
 * A million keys, asked for at random by fresh strings once all of them are known; then the bytes
 * that each one takes. The product's table is filled up for that, so that no slot of it is free.
 */
import { fractions } from '../lib/keys.mjs';
import { atLeast, atMost, compared, goalRow, PRODUCT, row } from '../lib/rows.mjs';
import { askFresh, counting, HOUR, liveBytes, nanosEach } from './loops.mjs';
import { CONTROL, createSubject, PEER_NAMES, PEERS } from './subjects.mjs';

const KEYS = 1_000_000;
const OPTIONS = { limit: 100, windowMillis: HOUR };
/** The product with other algorithms than the token bucket. */
const ALGORITHMS = ['fixed-window', 'sliding-window-counter'];
const withAlgorithm = (algorithm) => `${PRODUCT}, ${algorithm}`;

export const subjects = [CONTROL, PRODUCT, ...ALGORITHMS.map(withAlgorithm), ...PEER_NAMES];
export const rounds = 3;
export const budgetSeconds = 100;

export async function measure(subjectName, scale) {
  const [name, algorithm] = subjectName.split(', ');
  const keys = Math.round(KEYS * Math.min(1, scale));
  // Code is loaded and compiled before the memory is measured: it is no part of a key.
  await askFresh(await createSubject(name, { ...OPTIONS, capacity: 1024 }), counting(), 1000);
  const before = liveBytes();
  const residentBefore = process.memoryUsage.rss();
  const subject = await createSubject(name, { ...OPTIONS, capacity: keys, algorithm });
  await askFresh(subject, counting(), keys);
  const random = fractions();
  const next = () => Math.floor(random() * keys);
  const time = { warmMillis: 400 * scale, millis: 1000 * scale };
  const nanos = await nanosEach((n) => askFresh(subject, next, n), 10_000, time);
  if (name === PRODUCT) await askFresh(subject, counting(keys), 2 * keys);
  const bytes = liveBytes() - before;
  const resident = process.memoryUsage.rss() - residentBefore;
  return { nanos, bytes: bytes / keys, resident: resident / keys, table: tableBytes(subject) };
}

/** What the store itself says that it takes a key, once full. */
function tableBytes({ store }) {
  return store === undefined ? 0 : store.bytes / store.slotsInUse(performance.timeOrigin);
}

export function report(results) {
  return [...speed(results), ...memory(results)];
}

function speed(results) {
  const net = (name) => results.medianOver(name, CONTROL, 'nanos');
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, net(name)]));
  return [
    ...compared('1M keys, uniform', 'ns', net(PRODUCT), peers, {
      fastest: atLeast(4),
      [PEERS.flexible]: atLeast(8),
      [PEERS.throttler]: atLeast(15),
    }),
    ...ALGORITHMS.map((algorithm) =>
      row(`1M keys, uniform, ${algorithm}`, PRODUCT, net(withAlgorithm(algorithm)), 'ns'),
    ),
  ];
}

/** Rounded to whole bytes: the heap of an idle process moves by some 100 kB by itself. */
function memory(results) {
  const net = (name) => Math.round(results.medianOver(name, CONTROL, 'bytes'));
  const resident = (name) => Math.round(results.medianOver(name, CONTROL, 'resident'));
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, net(name)]));
  const work = 'memory a key, 1M keys';
  const [ours, ...others] = compared(work, 'bytes', net(PRODUCT), peers, { fastest: atLeast(8) });
  const own = (name, bound) => goalRow(work, name, net(name), 'bytes', atMost(bound, 'bytes'));
  return [
    own(ours.subject, 24),
    own(withAlgorithm('fixed-window'), 24),
    own(withAlgorithm('sliding-window-counter'), 32),
    ...others,
    row('resident memory a key', PRODUCT, resident(PRODUCT), 'bytes'),
    row('bytes a live key, as the store tells', PRODUCT, results.median(PRODUCT, 'table'), 'bytes'),
  ];
}
