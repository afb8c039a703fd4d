const BEYOND_ALL_TIME = 1n << 62n;

/**
 * The smallest r ≥ 0 for which `holds(r)`, where `holds` once true stays true: doubling steps until
 * it holds, then halving. Every wait of the model is found so, and none by a formula: a formula
 * could carry the very mistake that the model is there to find.
 */
export function smallest(holds: (r: bigint) => boolean): bigint {
  if (holds(0n)) return 0n;
  let no = 0n;
  let yes = 1n;
  while (!holds(yes)) {
    no = yes;
    yes *= 2n;
    if (yes > BEYOND_ALL_TIME) throw new Error('the model waits for what never comes');
  }
  while (yes - no > 1n) {
    const middle = (no + yes) / 2n;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** The largest n in 0…top for which `holds(n)`, where `holds(0n)` is given and false stays false. */
export function largest(top: bigint, holds: (n: bigint) => boolean): bigint {
  if (holds(top)) return top;
  let yes = 0n;
  let no = top;
  while (no - yes > 1n) {
    const middle = (yes + no) / 2n;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
