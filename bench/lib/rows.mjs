/*
 * A row: { work, subject, value, unit, ratio?, goal?, reached? }. The product's own goals stand on
 * its rows; a goal against a peer stands on that peer's row, with the ratio of the two.
 */

export const PRODUCT = 'nestjs-doorman';

/** A goal: its words, and whether a number meets it. */
export const atLeast = (factor) => ({ text: `≥ ${factor}×`, met: (ratio) => ratio >= factor });
/** At most this part of a peer's: the peer takes at least 1 / part times as much. */
export const atMostPart = (words, part) => ({
  text: `≤ ${words} of it`,
  met: (ratio) => ratio >= 1 / part,
});
export const atMost = (bound, unit = '') => ({
  text: `≤ ${bound}${unit && ` ${unit}`}`,
  met: (value) => value <= bound,
});

export function row(work, subject, value, unit, extra = {}) {
  return { work, subject, value, unit, ...extra };
}

/** A row whose own value has a goal. */
export function goalRow(work, subject, value, unit, { text, met }) {
  return row(work, subject, value, unit, { goal: text, reached: met(value) });
}

/**
 * The rows of one work: the product's value, then each peer's with how many times the product's
 * it is.
 *
 * @param peers `{ name: value }`
 * @param goals `{ name: goal }`; the goal of `fastest` is against whichever peer has least
 */
export function compared(work, unit, ours, peers, goals = {}) {
  const names = Object.keys(peers).toSorted((a, b) => peers[a] - peers[b]);
  const rows = [row(work, PRODUCT, ours, unit)];
  for (const name of names) {
    const ratio = peers[name] / ours;
    const asked = [name === names[0] ? goals.fastest : undefined, goals[name]].filter(Boolean);
    if (asked.length === 0) rows.push(row(work, name, peers[name], unit, { ratio }));
    for (const { text, met } of asked) {
      rows.push(row(work, name, peers[name], unit, { ratio, goal: text, reached: met(ratio) }));
    }
  }
  return rows;
}
