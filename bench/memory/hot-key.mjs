/*
 * One key, asked again and again, with the real clock: all allowed, or all refused. Beside it two
 * keys in turn, since a subject may remember what it was asked last.
 */
import { freshKey } from '../lib/keys.mjs';
import { median } from '../lib/rounds.mjs';
import { atLeast, compared, PRODUCT, row } from '../lib/rows.mjs';
import { ownMillis } from '../lib/time.mjs';
import { askInTurn, askOne, HOUR, nanosEach } from './loops.mjs';
import { CONTROL, createSubject, PEER_NAMES, PEERS } from './subjects.mjs';

export const subjects = [CONTROL, PRODUCT, ...PEER_NAMES];
export const rounds = 5;
export const budgetSeconds = 60;

const KEY = freshKey(7);
const TWO = [KEY, freshKey(8)];
const THROTTLER_LIMIT = 1000;

export async function measure(name, scale) {
  const time = { warmMillis: 300 * scale, millis: 600 * scale };
  if (name === PEERS.throttler) return measureThrottler(time);
  const generous = await createSubject(name, { limit: 1e9, windowMillis: HOUR, capacity: 1024 });
  const allowed = await nanosEach((n) => askOne(generous, KEY, n), 20_000, time);
  const inTurn = await nanosEach((n) => askInTurn(generous, TWO, n), 20_000, time);
  if (name === CONTROL) return { allowed, inTurn, clock: await clockNanos(time) };
  const strict = await createSubject(name, { limit: 1, windowMillis: HOUR, capacity: 1024 });
  await askOne(strict, KEY, 1);
  const refused = await nanosEach((n) => askOne(strict, KEY, n), 20_000, time);
  return { allowed, refused, inTurn };
}

/**
 * It keeps every hit and walks through them at each call, so its steady state is that of a client
 * with as many live hits as it may have.
 */
async function measureThrottler(time) {
  const options = { limit: THROTTLER_LIMIT, windowMillis: HOUR };
  const strict = await createSubject(PEERS.throttler, options);
  await askOne(strict, KEY, THROTTLER_LIMIT + 1);
  const refused = await nanosEach((n) => askOne(strict, KEY, n), 500, time);
  return { allowed: await throttlerAllowedNanos(time), refused };
}

/** The last 50 of a client's 1000 hits; many clients, as each has its last hits only once. */
async function throttlerAllowedNanos({ warmMillis, millis }) {
  const last = 50;
  const options = { limit: THROTTLER_LIMIT, windowMillis: HOUR };
  const subject = await createSubject(PEERS.throttler, options);
  let client = 0;
  const lastHits = async () => {
    const key = freshKey(client++);
    await askOne(subject, key, THROTTLER_LIMIT - last);
    const began = performance.now();
    await askOne(subject, key, last);
    return ((performance.now() - began) * 1e6) / last;
  };
  const end = ownMillis() + warmMillis + millis;
  const nanos = [];
  while (ownMillis() < end) nanos.push(await lastHits());
  return median(nanos);
}

async function clockNanos(time) {
  const { SystemClock } = await import('../../dist/esm/core/index.js');
  const clock = new SystemClock();
  return nanosEach((n) => askOne({ ask: () => clock.nowMillis() > 0 }, KEY, n), 20_000, time);
}

export function report(results) {
  return [
    row('the clock alone', PRODUCT, net(results, CONTROL, 'clock'), 'ns'),
    ...compareOne(results, 'allowed', 9),
    ...compareOne(results, 'refused', 30),
    ...compared(
      'two keys in turn, allowed',
      'ns',
      net(results, PRODUCT, 'inTurn'),
      inTurn(results),
    ),
  ];
}

function compareOne(results, field, overFlexible) {
  const peers = Object.fromEntries(PEER_NAMES.map((name) => [name, net(results, name, field)]));
  return compared(`one hot key, ${field}`, 'ns', net(results, PRODUCT, field), peers, {
    fastest: atLeast(1),
    [PEERS.flexible]: atLeast(overFlexible),
    [PEERS.throttler]: atLeast(100),
  });
}

/** Throttler's keys would gather hits without end, so it is left out. */
function inTurn(results) {
  const names = PEER_NAMES.filter((name) => name !== PEERS.throttler);
  return Object.fromEntries(names.map((name) => [name, net(results, name, 'inTurn')]));
}

/** Less the loop itself. */
function net(results, name, field) {
  return results.median(name, field) - results.median(CONTROL, 'allowed');
}
