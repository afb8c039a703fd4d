import { checkPrefix } from './counter-key.js';
import type { InstancesOption } from './instances.js';

export interface RedisStoreOptions {
  /** Text before all keys: applications that share a Redis have one each, its instances the same. */
  readonly prefix: string;
  /** From the asking to the answer, in whole milliseconds from 1 on; default 100. */
  readonly timeoutMillis?: number;
  /**
   * Whose time decides: the Redis server's (default), so that instances agree whatever their clocks
   * show; or the injected Clock's, for tests that turn it.
   */
  readonly time?: 'server' | 'clock';
  /**
   * `own` (default): the store works on a duplicate of the client, without offline queue and
   * resending. `shared`: on the client itself, whose options are checked for that.
   */
  readonly connection?: 'own' | 'shared';
  /** How many instances share the limits, for rules that count locally while Redis is away; default 1. */
  readonly instances?: InstancesOption;
  /** Counters of those rules, at most; default 100,000. */
  readonly maxLocalKeys?: number;
}

export type CheckedOptions = Required<RedisStoreOptions>;

const KNOWN = ['prefix', 'timeoutMillis', 'time', 'connection', 'instances', 'maxLocalKeys'];

/** @throws TypeError or RangeError that says what was given and what is right */
export function checkOptions(options: RedisStoreOptions): CheckedOptions {
  const unknown = Object.keys(options ?? {}).filter((name) => !KNOWN.includes(name));
  if (unknown.length > 0) {
    throw new TypeError(
      `RedisStore knows no option ${unknown.join(', ')}; there are ${KNOWN.join(', ')}`,
    );
  }
  const { prefix, timeoutMillis = 100, time = 'server', connection = 'own' } = options ?? {};
  checkPrefix(prefix);
  if (!(Number.isInteger(timeoutMillis) && timeoutMillis >= 1 && timeoutMillis < 2 ** 31)) {
    throw new RangeError(
      `timeoutMillis is a whole number of milliseconds from 1 on, got ${String(timeoutMillis)}`,
    );
  }
  oneOf('time', time, ['server', 'clock']);
  oneOf('connection', connection, ['own', 'shared']);
  const { instances = 1, maxLocalKeys = 100_000 } = options;
  return { prefix, timeoutMillis, time, connection, instances, maxLocalKeys };
}

function oneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (choices.includes(value as string)) return;
  throw new TypeError(`${name} is '${choices.join("' or '")}', got ${JSON.stringify(value)}`);
}
