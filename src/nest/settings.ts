import { BUILT_IN_DIMENSIONS } from '../core/dimension.js';
import { type Faults, nearest, show } from '../core/fault.js';
import { RateLimitStore } from '../core/index.js';
import { DEFAULT_MAX_LOG_LIMIT, type Surroundings } from '../core/rule-availability.js';
import { DEFAULT_MAX_WAITERS } from '../core/waiting-room.js';
import { checkSecretKey, type DimensionSettings, readDimensions } from './dimension-options.js';
import {
  HEADERS_IN_WORDS,
  isHeadersOption,
  type OneDialect,
  readHeaders,
} from './header-options.js';
import type { GraphqlOptions, RateLimitOptions, RulesFileOption } from './options.js';
import type { RefusalOption } from './refusal-bodies.js';
import { isResolver } from './tier-resolver.js';

/** Of the whole module. */
export type ModuleMode = 'enforce' | 'shadow' | 'off';

/** The options, checked and with their defaults. */
export interface Settings
  extends Pick<
    RateLimitOptions,
    | 'rules'
    | 'always'
    | 'user'
    | 'address'
    | 'normalizeId'
    | 'skip'
    | 'store'
    | 'tierOf'
    | 'secretKey'
    | 'warnAt'
  > {
  readonly rulesFile: RulesFileOption | undefined;
  readonly dimensions: ReadonlyMap<string, DimensionSettings>;
  readonly tierCacheMillis: number;
  readonly tierTimeoutMillis: number;
  readonly mode: ModuleMode;
  readonly stage: 'auto' | 'guard';
  readonly order: 'first' | 'registered';
  readonly headers: readonly OneDialect[];
  readonly graphql: Required<GraphqlOptions>;
  readonly exposeHeaders: boolean;
  readonly refusal: RefusalOption;
  readonly ipv6Prefix: number;
  readonly maxWaiters: number;
  readonly maxLogLimit: number;
}

/** What the rules may ask for. */
export function surroundingsOf({ maxLogLimit, dimensions: own }: Settings): Surroundings {
  const dimensions = [...BUILT_IN_DIMENSIONS, ...own.keys()];
  return { maxLogLimit, dimensions, waits: true, outcomes: true, shadow: true };
}

type Check = (value: unknown) => boolean;

const isFunction: Check = (value) => typeof value === 'function';
const isText: Check = (value) => typeof value === 'string' && value !== '';
const wholeIn = (low: number, high: number): Check => {
  return (value) => Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
};

function oneOf(...choices: readonly string[]): readonly [Check, string] {
  return [(value) => choices.includes(value as string), choices.join(' or ')];
}

function isRulesFile(value: unknown): boolean {
  if (isText(value)) return true;
  if (!isObject(value)) return false;
  const { path, pollMillis, ...others } = value as Record<string, unknown>;
  const polls = pollMillis === undefined || wholeIn(100, 2 ** 31)(pollMillis);
  return isText(path) && polls && Object.keys(others).length === 0;
}

function isGraphql(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { per = 'resolver', ...others } = value as Record<string, unknown>;
  return (per === 'resolver' || per === 'operation') && Object.keys(others).length === 0;
}

/** Each option, what it takes, and that in words. */
const OPTIONS: Record<keyof RateLimitOptions, readonly [Check, string]> = {
  rules: [(value) => isText(value) || isObject(value), 'a rule book, as an object or as text'],
  rulesFile: [isRulesFile, 'the path of a file, or { path, pollMillis } with 100 ms or more'],
  always: [(value) => isText(value) || isObject(value), 'a rule, or several by name'],
  user: [isFunction, 'a function of the request'],
  address: [isFunction, 'a function of the execution context'],
  normalizeId: [isFunction, 'a function of the id'],
  skip: [isFunction, 'a function of the execution context'],
  dimensions: [isObject, 'an object with a function for each name'],
  secretKey: [checkSecretKey, 'text of 16 characters or more'],
  tierOf: [
    (value) => isFunction(value) || isResolver(value),
    'a function of the user id, a TierResolver, or the class of one',
  ],
  tierCacheMillis: [wholeIn(0, 2 ** 31), 'whole milliseconds, 0 to 2147483648'],
  tierTimeoutMillis: [wholeIn(1, 2 ** 31), 'whole milliseconds, 1 to 2147483648'],
  mode: oneOf('enforce', 'shadow', 'off'),
  warnAt: [
    (value) => Number(value) > 0 && Number(value) <= 1 && typeof value === 'number',
    'a part of the limit, above 0 and up to 1',
  ],
  headers: [isHeadersOption, HEADERS_IN_WORDS],
  graphql: [isGraphql, '{ per } with resolver or operation'],
  exposeHeaders: [(value) => typeof value === 'boolean', 'true or false'],
  refusal: [
    (value) => value === 'json' || value === 'problem' || isFunction(value),
    'json, problem, or a function of the decision',
  ],
  store: [(value) => value instanceof RateLimitStore, 'a RateLimitStore'],
  ipv6Prefix: [wholeIn(1, 128), 'a whole number of bits, 1 to 128'],
  maxWaiters: [wholeIn(0, 1e7), 'a whole number, 0 to 10000000'],
  maxLogLimit: [wholeIn(1, 1e7), 'a whole number, 1 to 10000000'],
  stage: oneOf('auto', 'guard'),
  order: oneOf('first', 'registered'),
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
  return withDefaults(options as RateLimitOptions, faults);
}

function unknownOption(name: string, known: readonly string[]): string {
  if (name === 'guard') return 'guard stands beside useFactory, useClass or useExisting';
  return `there is no such option; there are ${known.join(', ')}`;
}

function withDefaults(options: RateLimitOptions, faults: Faults): Settings {
  const { rulesFile } = options;
  return {
    ...options,
    rulesFile: typeof rulesFile === 'string' ? { path: rulesFile } : rulesFile,
    dimensions: readDimensions(options.dimensions ?? {}, faults),
    tierCacheMillis: options.tierCacheMillis ?? 30_000,
    tierTimeoutMillis: options.tierTimeoutMillis ?? 1000,
    stage: options.stage ?? 'auto',
    order: options.order ?? 'first',
    mode: options.mode ?? 'enforce',
    headers: readHeaders(options.headers ?? 'ietf', faults),
    graphql: { per: options.graphql?.per ?? 'resolver' },
    exposeHeaders: options.exposeHeaders ?? false,
    refusal: options.refusal ?? 'json',
    ipv6Prefix: options.ipv6Prefix ?? 56,
    maxWaiters: options.maxWaiters ?? DEFAULT_MAX_WAITERS,
    maxLogLimit: options.maxLogLimit ?? DEFAULT_MAX_LOG_LIMIT,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
