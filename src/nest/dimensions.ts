import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import { messageOf } from '../core/fault.js';
import type { MaybePromise } from '../core/index.js';
import { isPromise } from '../core/maybe-promise.js';
import type { DimensionSettings } from './dimension-options.js';
import type { Warnings } from './warnings.js';

/** What counters keep of a secret: 22 characters of base64url, 132 bits. */
const HASH_LENGTH = 22;

/** Says what a request counts by, in the dimensions of the option. */
export class Dimensions {
  private readonly key: KeyObject;

  /** @param secretKey hashes secret values: the same in all processes that count together */
  constructor(
    private readonly dimensions: ReadonlyMap<string, DimensionSettings>,
    secretKey: string | Uint8Array,
    private readonly warnings: Pick<Warnings, 'once'>,
  ) {
    this.key = createSecretKey(typeof secretKey === 'string' ? Buffer.from(secretKey) : secretKey);
  }

  /**
   * The values of these dimensions, asked for all at once; those that are not of the option are left
   * out, and so are those that have no value here: they fall back to the client's address. One that
   * fails, or answers what is neither text nor a number, has none, which is warned of once a
   * dimension; a request never fails for it.
   *
   * @param names each once
   * @returns undefined when none of them is of the option; a promise when one of them answers one
   */
  valuesFor(
    names: readonly string[],
    ctx: ExecutionContext,
  ): MaybePromise<Readonly<Record<string, string>> | undefined> {
    let values: Record<string, string> | undefined;
    let pending: Promise<void>[] | undefined;
    for (const name of names) {
      const dimension = this.dimensions.get(name);
      if (!dimension) continue;
      values ??= Object.create(null) as Record<string, string>;
      const into = values;
      const text = this.ask(name, dimension, ctx);
      if (isPromise(text)) {
        pending ??= [];
        pending.push(text.then((later) => put(into, name, later)));
      } else put(into, name, text);
    }
    return pending ? Promise.all(pending).then(() => values) : values;
  }

  /**
   * Values that a caller of the service names, as counters know them: those of secret dimensions are
   * hashed, the others stay as they are.
   */
  shown<T extends Readonly<Record<string, string>> | undefined>(values: T): T {
    if (values === undefined) return values;
    const shown = Object.create(null) as Record<string, string>;
    for (const [name, value] of Object.entries(values)) {
      const dimension = this.dimensions.get(name);
      put(shown, name, dimension?.secret ? this.text(name, dimension, value) : value);
    }
    return shown as T;
  }

  private ask(
    name: string,
    dimension: DimensionSettings,
    ctx: ExecutionContext,
  ): MaybePromise<string | undefined> {
    try {
      const answer: unknown = dimension.value(ctx);
      if (!isPromise(answer)) return this.text(name, dimension, answer);
      return Promise.resolve(answer).then(
        (value) => this.text(name, dimension, value),
        (error) => this.failed(name, dimension, error),
      );
    } catch (error) {
      return this.failed(name, dimension, error);
    }
  }

  private text(name: string, { secret }: DimensionSettings, value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    const isNumber = typeof value === 'bigint' || Number.isFinite(value);
    if (typeof value === 'string' || isNumber) {
      return secret ? this.hash(name, String(value)) : String(value);
    }
    const given = typeof value === 'number' ? String(value) : typeof value;
    return this.warn(name, `is text or a number, got ${given}`);
  }

  /**
   * HMAC-SHA256 over the name and the value, cut. Among n secrets two meet with a chance of about
   * n² / 2^133: 1 in 10^22 for a billion of them. Names hold no colon, so no other name and value
   * make the same message; in UTF-16, since UTF-8 has one spelling for all lone surrogates.
   *
   * Hashed each time, a few µs: remembering what was hashed would keep the secrets in memory, where
   * a dump finds them.
   */
  private hash(name: string, value: string): string {
    const hmac = createHmac('sha256', this.key).update(`${name}:${value}`, 'utf16le');
    return hmac.digest('base64url').slice(0, HASH_LENGTH);
  }

  private failed(name: string, { secret }: DimensionSettings, error: unknown): undefined {
    // An error may quote what it could not read.
    const said = secret ? '' : `: ${messageOf(error)}`;
    return this.warn(name, `has a function that failed${said}`);
  }

  private warn(name: string, problem: string): undefined {
    const text = `The dimension ${name} ${problem}: such callers are counted by address`;
    this.warnings.once(`dimension ${name}`, text);
  }
}

function put(values: Record<string, string>, name: string, text: string | undefined): void {
  if (text !== undefined) values[name] = text;
}
