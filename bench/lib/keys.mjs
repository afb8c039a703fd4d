/* Keys and the order in which they are asked for, the same in every process. */

const bytes = Buffer.from('user:00000000000', 'latin1');

/**
 * The key of client i: 16 characters, a new string at every call, as a server gets it from the
 * network. Nobody has hashed it yet, and it is no string that any map holds.
 */
export function freshKey(i) {
  let rest = i;
  for (let at = 15; at >= 5; at--) {
    const tens = Math.floor(rest / 10);
    bytes[at] = 48 + rest - tens * 10;
    rest = tens;
  }
  return bytes.latin1Slice(0, 16);
}

/** A repeatable source of fractions from 0 to below 1 (xorshift32). */
export function fractions(seed = 2463534242) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** `count` numbers below `keys`, the n-th most frequent 1/n as often as the first (Zipf, s = 1). */
export function zipf(keys, count) {
  const sums = new Float64Array(keys);
  let sum = 0;
  for (let rank = 0; rank < keys; rank++) {
    sum += 1 / (rank + 1);
    sums[rank] = sum;
  }
  const random = fractions();
  const owner = shuffled(keys, random);
  return Uint32Array.from({ length: count }, () => owner[firstAtLeast(sums, random() * sum)]);
}

/** So that frequent keys do not stand side by side in memory. */
function shuffled(length, random) {
  const order = Uint32Array.from({ length }, (_, i) => i);
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function firstAtLeast(ascending, wanted) {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
