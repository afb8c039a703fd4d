import type { ExecutionContext } from '@nestjs/common';
import { type Faults, nearest, show, showNumber } from '../core/fault.js';
import type { MaybePromise } from '../core/index.js';
import { andThen } from '../core/maybe-promise.js';

/**
 * What a request costs, beside the rules of a `@RateLimit`. It is the request's: every rule that
 * decides spends it, also one that joins from the book.
 */
export interface RequestCost {
  /**
   * How much is taken: a whole number, 0 or more, or what answers one. Default 1. An answer that
   * is none is a RangeError, so a 500, and nothing is taken; what it throws is thrown to the caller.
   */
  readonly cost?: number | ((ctx: ExecutionContext) => MaybePromise<number>);
  /**
   * What it really cost, known from what the handler answers; undefined where the estimate is
   * right. Of a stream `result` is its last value. Not called when the handler throws: then the
   * estimate stays, as it does when this throws or answers no cost, with one warning.
   */
  readonly settle?: (
    ctx: ExecutionContext,
    // biome-ignore lint/suspicious/noExplicitAny: whatever the handler answers
    result: any,
  ) => MaybePromise<number | undefined>;
}

const FIELDS = ['cost', 'settle'];

/** Takes the cost off the end of what a decorator is given. A rule in object form has a limit. */
export function splitCost<T>(given: readonly (T | RequestCost)[]): [T[], RequestCost | undefined] {
  const last = given.at(-1);
  return isCost(last) ? [given.slice(0, -1) as T[], last] : [given as T[], undefined];
}

function isCost(value: unknown): value is RequestCost {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'limit')) return false;
  return FIELDS.some((field) => Object.hasOwn(value, field));
}

/** Each fault is added to `faults`. */
export function checkCost(cost: RequestCost, place: string, faults: Faults): void {
  for (const [name, value] of Object.entries(cost)) {
    const fault = (problem: string, meant?: string) =>
      faults.add({
        code: 'OPTION_VALUE',
        place,
        given: `${name}: ${typeof value === 'number' ? value : show(value)}`,
        problem,
        meant,
      });
    if (!FIELDS.includes(name)) {
      fault(`unknown field ${JSON.stringify(name)} beside the rules`, nearest(name, FIELDS));
    }
    if (name === 'cost' && value !== undefined && typeof value !== 'function' && !isWhole(value)) {
      fault('cost is a whole number, 0 or more, or a function that answers one');
    }
    if (name === 'settle' && value !== undefined && typeof value !== 'function') {
      fault('settle is a function of the context and of what the handler answers');
    }
  }
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

/**
 * What this request is to take.
 *
 * @throws RangeError, or rejects with it, for a cost that is no whole number, 0 or more
 */
export function costOf(
  given: RequestCost | undefined,
  context: ExecutionContext,
): MaybePromise<number> {
  const cost = given?.cost ?? 1;
  if (typeof cost === 'number') return cost;
  return andThen(cost(context), (answer) => {
    if (!isWhole(answer)) throw new RangeError(`${nameOf(context)} has no cost: ${said(answer)}`);
    return answer;
  });
}

function said(answer: unknown): string {
  return `a whole number, 0 or more, is expected, got ${showNumber(answer)}`;
}

/** A handler as a person names it. */
export function nameOf(context: ExecutionContext): string {
  return `${context.getClass().name}.${context.getHandler().name}`;
}
