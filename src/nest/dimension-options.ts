import type { ExecutionContext } from '@nestjs/common';
import { BUILT_IN_DIMENSIONS, parseDimensions } from '../core/dimension.js';
import { type Faults, nearest, quote, show } from '../core/fault.js';
import type { MaybePromise } from '../core/index.js';

/**
 * What one request counts by in a dimension: text or a number, equal ones are one. Nothing
 * (undefined, null) is counted by the client's address. A request waits for what is promised.
 */
export type DimensionValue = (
  ctx: ExecutionContext,
) => MaybePromise<string | number | bigint | null | undefined>;

/** A dimension: its function, or that and whether its values are secrets. */
export type DimensionOption =
  | DimensionValue
  | {
      readonly value: DimensionValue;
      /**
       * The value is hashed with a key before it is stored or shown: API keys, tokens. Default
       * false.
       */
      readonly secret?: boolean;
    };

/** A dimension, read. */
export interface DimensionSettings {
  readonly value: DimensionValue;
  readonly secret: boolean;
}

const NONE: DimensionSettings = { value: () => undefined, secret: false };
const FIELDS = ['value', 'secret'];

/**
 * Reads the option `dimensions`; each fault is added to `faults`. A dimension whose name is right is
 * in the answer although the rest of it may be faulty: else each rule that counts by it would be
 * told of as well.
 */
export function readDimensions(
  given: unknown,
  faults: Faults,
): ReadonlyMap<string, DimensionSettings> {
  const read = new Map<string, DimensionSettings>();
  if (given === undefined) return read;
  // Not a Map nor a list: of these, nothing would be read and nothing be said.
  if (Object.prototype.toString.call(given) !== '[object Object]') {
    const problem = 'it takes an object: functions of the execution context by name';
    faults.add({ code: 'OPTION_VALUE', place: 'option dimensions', given: show(given), problem });
    return read;
  }
  for (const [name, option] of Object.entries(given as object)) {
    const problem = nameProblem(name);
    if (problem !== undefined) {
      const place = `option dimensions.${/^\w+$/.test(name) ? name : quote(name)}`;
      faults.add({ code: 'OPTION_VALUE', place, given: name, problem });
    } else if (option !== undefined) read.set(name, readDimension(name, option, faults));
  }
  return read;
}

function nameProblem(name: string): string | undefined {
  if ((BUILT_IN_DIMENSIONS as readonly string[]).includes(name)) {
    return `${BUILT_IN_DIMENSIONS.join(', ')} are there already, and mean what they mean`;
  }
  const parsed = parseDimensions(name);
  if (parsed?.length === 1 && parsed[0] === name) return undefined;
  return 'a name begins with a letter and goes on with letters, digits, - and _';
}

function readDimension(name: string, option: unknown, faults: Faults): DimensionSettings {
  const place = `option dimensions.${name}`;
  const wrong = (given: unknown, problem: string) => {
    faults.add({ code: 'OPTION_VALUE', place, given: show(given), problem });
    return NONE;
  };
  if (typeof option === 'function') return { value: option as DimensionValue, secret: false };
  if (Object.prototype.toString.call(option) !== '[object Object]') {
    return wrong(option, 'it takes a function of the execution context, or { value, secret }');
  }
  for (const field of Object.keys(option as object)) {
    if (FIELDS.includes(field)) continue;
    const problem = `there is no such field; there are ${FIELDS.join(', ')}`;
    const meant = nearest(field, FIELDS);
    faults.add({ code: 'OPTION_UNKNOWN', place, given: field, problem, meant });
  }
  const { value, secret = false } = option as { value?: unknown; secret?: unknown };
  if (typeof secret !== 'boolean') wrong(secret, 'secret is true or false');
  if (typeof value !== 'function')
    return wrong(value, 'value is a function of the execution context');
  return { value: value as DimensionValue, secret: secret === true };
}

/** What `checkSecretKey` asks for, in words. */
export const SECRET_KEY_TEXT = 'text of 16 or more characters';

/** Whether this is a key for secret values: long enough not to be guessed. */
export function checkSecretKey(given: unknown): given is string {
  return typeof given === 'string' && given.length >= 16;
}
