/*
 * Keys of counters:
 *
 *   <prefix>:{<values>}<digest of the rule's place, algorithm, window and ordinal>
 *
 * The values stand in braces, which Redis Cluster hashes alone: rules that count by the same thing
 * are on one node, and can be decided in one call. Their text is injective: what would be taken
 * for something else is escaped, and what is long or no well-formed Unicode (Redis keeps bytes)
 * stands as a hash of 128 bits behind `#`.
 */
import { createHash } from 'node:crypto';
import type { CounterPlan } from '../../core/counter-plan.js';

/** Longer values, in bytes of UTF-8, are hashed. */
const LONGEST_VALUE = 64;
const PLAIN = /^[\w.:@/=+~,;-]{1,64}$/;
const TELLING = /[%{}|#]/g;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws TypeError when it would take the place of the braces around the values */
export function checkPrefix(prefix: unknown): asserts prefix is string {
  if (typeof prefix === 'string' && prefix !== '' && !/[{}]/.test(prefix)) return;
  const given = typeof prefix === 'string' ? JSON.stringify(prefix) : String(prefix);
  throw new TypeError(
    `RedisStore needs a prefix, the text before its keys, without braces, such as "shop"; got ${given}`,
  );
}

/** What stands for values in a key, without its braces. Never empty: Cluster ignores empty braces. */
export function valuesText(values: readonly string[]): string {
  if (values.length === 1) return valueText(values[0]!) || '%';
  return values.map(valueText).join('|') || '%';
}

function valueText(value: string): string {
  if (PLAIN.test(value) || value === '') return value;
  const long = value.length > LONGEST_VALUE || Buffer.byteLength(value) > LONGEST_VALUE;
  if (!long && !LONE_SURROGATE.test(value)) return value.replace(TELLING, escaped);
  const hash = createHash('sha256').update(Buffer.from(value, 'utf16le')).digest();
  return `#${hash.subarray(0, 16).toString('base64url')}`;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

/** 64 bits of the plan's id as 11 characters. */
export function planDigest({ seedLo, seedHi }: CounterPlan): string {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32BE(seedHi, 0);
  bytes.writeInt32BE(seedLo, 4);
  return bytes.toString('base64url');
}
