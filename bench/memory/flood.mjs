/*
 * A flood: five million keys, one request each, where a million have room. A thousand clients used
 * up their limit before it; none of them may have got a new one by it.
 */
import { freshKey } from '../lib/keys.mjs';
import { atLeast, atMost, compared, goalRow, PRODUCT, row } from '../lib/rows.mjs';
import { ownMillis, turn } from '../lib/time.mjs';
import { askFresh, askOne, counting, HOUR } from './loops.mjs';
import { CONTROL, createSubject, PEER_NAMES, PEERS } from './subjects.mjs';

const CAPACITY = 1_000_000;
const LIMIT = 5;
const ABUSERS = 1000;
const BATCH = 10_000;
/** What has no bound would need gigabytes; the bounded peer has time enough to meet its bound. */
const KEYS = { [CONTROL]: 5_000_000, [PRODUCT]: 5_000_000, [PEERS.fastify]: 5_000_000 };
const KEYS_UNBOUNDED = 500_000;
const LONGEST_MILLIS = 10_000;

export const subjects = [CONTROL, PRODUCT, ...PEER_NAMES];
export const rounds = 3;
export const budgetSeconds = 70;

export async function measure(name, scale) {
  const capacity = Math.round(CAPACITY * scale);
  const subject = await createSubject(name, { limit: LIMIT, windowMillis: HOUR, capacity });
  await eachAbuser((key) => askOne(subject, key, LIMIT));
  const { nanos, growth } = await flood(subject, ABUSERS, {
    keys: (KEYS[name] ?? KEYS_UNBOUNDED) * scale,
    capacity,
  });
  let reset = 0;
  await eachAbuser(async (key) => {
    reset += await askOne(subject, key, 1);
  });
  return { nanos, growth, reset };
}

async function eachAbuser(visit) {
  for (let i = 0; i < ABUSERS; i++) await visit(freshKey(i));
}

/** The price of a key, and by how much the process grew once as many as have room were in. */
async function flood(subject, first, { keys, capacity }) {
  const next = counting(first);
  let took = 0;
  let asked = 0;
  let full = process.memoryUsage.rss();
  while (asked < keys && took < LONGEST_MILLIS) {
    const began = ownMillis();
    await askFresh(subject, next, BATCH);
    await turn();
    took += ownMillis() - began;
    asked += BATCH;
    if (asked <= capacity) full = resident(asked === capacity);
  }
  return { nanos: (took * 1e6) / asked, growth: (resident(true) - full) / 1e6 };
}

function resident(collected) {
  if (collected) gc();
  return process.memoryUsage.rss();
}

export function report(results) {
  const net = (name) => results.medianOver(name, CONTROL, 'nanos');
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, net(name)]));
  const growth = results.medianOver(PRODUCT, CONTROL, 'growth');
  const reset = results.median(PRODUCT, 'reset');
  return [
    ...compared('flood of unique keys', 'ns', net(PRODUCT), peers, { [PEERS.fastify]: atLeast(4) }),
    goalRow('growth after the first million', PRODUCT, growth, 'MB', atMost(4, 'MB')),
    ...[PEERS.fastify].map((name) =>
      row('growth after the first million', name, results.median(name, 'growth'), 'MB'),
    ),
    goalRow(`of ${ABUSERS} at their limit reset`, PRODUCT, reset, '', atMost(0)),
    row(
      `of ${ABUSERS} at their limit reset`,
      PEERS.fastify,
      results.median(PEERS.fastify, 'reset'),
      '',
    ),
  ];
}
