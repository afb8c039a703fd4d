import { BUILT_IN_DIMENSIONS } from '../core/dimension.js';
import { type Faults, nearest, show } from '../core/fault.js';
import { RateLimitStore } from '../core/index.js';
import { DEFAULT_MAX_LOG_LIMIT, type Surroundings } from '../core/rule-availability.js';
import { DEFAULT_MAX_WAITERS } from '../core/waiting-room.js';
import { HEADER_DIALECTS, type HeaderDialect } from '../http/headers/index.js';
import type { RateLimitOptions } from './options.js';

/** The options, checked and with their defaults. */
export interface Settings
  extends Pick<
    RateLimitOptions,
    'rules' | 'rulesFile' | 'always' | 'user' | 'address' | 'normalizeId' | 'skip' | 'store'
  > {
  readonly mode: 'enforce' | 'off';
  readonly dialects: readonly HeaderDialect[];
  readonly ipv6Prefix: number;
  readonly maxWaiters: number;
  readonly maxLogLimit: number;
}

/** What the rules may ask for. */
export function surroundingsOf({ maxLogLimit }: Settings): Surroundings {
  return { maxLogLimit, dimensions: BUILT_IN_DIMENSIONS, waits: true, outcomes: true };
}

type Check = (value: unknown) => boolean;

const isFunction: Check = (value) => typeof value === 'function';
const isText: Check = (value) => typeof value === 'string' && value !== '';
const wholeIn = (low: number, high: number): Check => {
  return (value) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
};

/** Each option, what it takes, and that in words. */
const OPTIONS: Record<keyof RateLimitOptions, readonly [Check, string]> = {
  rules: [(value) => isText(value) || isObject(value), 'a rule book, as an object or as text'],
  rulesFile: [isText, 'the path of a file'],
  always: [(value) => isText(value) || isObject(value), 'a rule, or several by name'],
  user: [isFunction, 'a function of the request'],
  address: [isFunction, 'a function of the execution context'],
  normalizeId: [isFunction, 'a function of the id'],
  skip: [isFunction, 'a function of the execution context'],
  mode: [(value) => value === 'enforce' || value === 'off', 'enforce or off'],
  headers: [
    (value) => dialectsOf(value) !== undefined,
    `${dialectNames()}, a function, a list or false`,
  ],
  store: [(value) => value instanceof RateLimitStore, 'a RateLimitStore'],
  ipv6Prefix: [wholeIn(1, 128), 'a whole number of bits, 1 to 128'],
  maxWaiters: [wholeIn(0, 1e7), 'a whole number, 0 to 10000000'],
  maxLogLimit: [wholeIn(1, 1e7), 'a whole number, 1 to 10000000'],
  stage: [(value) => value === 'guard', 'guard'],
  order: [(value) => value === 'registered', 'registered'],
};

/** Checks the options; each fault is added to `faults`, and what is faulty gets its default. */
export function readSettings(given: unknown, faults: Faults): Settings {
  const known = Object.keys(OPTIONS);
  if (!isObject(given)) {
    const problem = 'the options are an object';
    faults.add({ code: 'OPTION_VALUE', place: 'RateLimitModule', given: show(given), problem });
  }
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    if (value === undefined) continue;
    const option = Object.hasOwn(OPTIONS, name) && OPTIONS[name as keyof RateLimitOptions];
    if (!option) {
      const problem = unknownOption(name, known);
      const meant = nearest(name, known);
      faults.add({ code: 'OPTION_UNKNOWN', place: 'RateLimitModule', given: name, problem, meant });
    } else if (!option[0](value)) {
      const problem = `it takes ${option[1]}`;
      faults.add({ code: 'OPTION_VALUE', place: `option ${name}`, given: show(value), problem });
    } else options[name] = value;
  }
  return withDefaults(options as RateLimitOptions);
}

function unknownOption(name: string, known: readonly string[]): string {
  if (name === 'guard') return 'guard stands beside useFactory, useClass or useExisting';
  return `there is no such option; there are ${known.join(', ')}`;
}

function withDefaults(options: RateLimitOptions): Settings {
  return {
    ...options,
    mode: options.mode ?? 'enforce',
    dialects: dialectsOf(options.headers ?? 'ietf') ?? [],
    ipv6Prefix: options.ipv6Prefix ?? 56,
    maxWaiters: options.maxWaiters ?? DEFAULT_MAX_WAITERS,
    maxLogLimit: options.maxLogLimit ?? DEFAULT_MAX_LOG_LIMIT,
  };
}

/** The dialects that the option `headers` means; undefined when one of them is none. */
function dialectsOf(option: unknown): HeaderDialect[] | undefined {
  if (option === false) return [];
  const dialects = (Array.isArray(option) ? option : [option]).map((one) => {
    if (typeof one === 'function') return one as HeaderDialect;
    const named = typeof one === 'string' && Object.hasOwn(HEADER_DIALECTS, one);
    return named ? HEADER_DIALECTS[one as keyof typeof HEADER_DIALECTS] : undefined;
  });
  return dialects.every((dialect) => dialect !== undefined) ? dialects : undefined;
}

function dialectNames(): string {
  return Object.keys(HEADER_DIALECTS).join(', ');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
