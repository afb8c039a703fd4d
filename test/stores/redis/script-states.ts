import type { Random } from './deeds.js';

/** What may stand in a key before a script runs: a text, a list of times, or nothing. */
export type State = string | readonly string[] | undefined;

const BAD = ['banana', 'b', 'bx1', 'b12 banana', '1e3', '-5', '0x10', ' 12', '12 ', '1.5', 'nan'];
const WORSE = ['inf', '', '12 3', '12 3 4 5', 'b99', '1 2', '-1 2 3', '1 2 -3', '1 2 3 '];

/** Values that the scripts wrote at some time, whole numbers and rests, and some that they never do. */
export function stateOf(algorithm: string, random: Random, now: number, window: number): State {
  if (random(6) === 0) return undefined;
  if (random(12) === 0) return [...BAD, ...WORSE][random(BAD.length + WORSE.length)]!;
  const block = random(3) === 0 ? `b${now + random(2000) - 700}` : '';
  const value = VALUES[algorithm]!(random, now, window);
  if (typeof value !== 'string') return block === '' ? value : [block, ...value];
  if (block === '') return value;
  return random(4) === 0 ? block : `${block} ${value}`;
}

type Value = string | readonly string[];

const VALUES: Readonly<Record<string, (random: Random, now: number, window: number) => Value>> = {
  'token-bucket': (random, now, window) => {
    const fullAt = now + random(4 * window) - window;
    const of = 1 + random(1000);
    return random(2) === 0 ? `${fullAt}` : `${fullAt} ${random(of)} ${of}`;
  },
  'fixed-window': (random, now, window) => {
    const box = Math.floor(now / window) + [0, 0, 0, -1, 1, 5][random(6)]!;
    const count = 1 + random(9);
    // In the form for large numbers too, which another limit or window may have asked for.
    const small = random(3) > 0 && box < 9e9;
    return small ? String(box * 1e6 + count) : `${box} ${count}`;
  },
  'sliding-window-counter': (random, now, window) => {
    const box = Math.floor(now / window) + [0, 0, 0, -1, -2, 1, 5][random(7)]!;
    return `${box} ${1 + random(6)} ${random(6)}`;
  },
  'sliding-window': (random, now, window) => {
    const ahead = random(5) === 0 ? random(window) : 0;
    const times = Array.from({ length: 1 + random(6) }, () => now + ahead - random(2 * window));
    return times.sort((a, b) => a - b).map(String);
  },
};
