import 'reflect-metadata';
import { UseGuards, UseInterceptors } from '@nestjs/common';
import type { PolicySource } from '../core/index.js';
import type { CheckedRules } from '../core/rule-types.js';
import { RateLimitBinding } from './rate-limit.binding.js';
import { type RequestCost, splitCost } from './request-cost.js';
import { RateLimitSettling } from './settle.interceptor.js';

const LIMIT = Symbol.for('nestjs-doorman:rate-limit');
const COST = Symbol.for('nestjs-doorman:cost');
const SKIP = Symbol.for('nestjs-doorman:skip');
/** On a prototype: the names of its decorated methods. */
const DECORATED = Symbol.for('nestjs-doorman:decorated');

/** What decorators wrote on one class or method. */
export interface Decoration {
  /** The rules of each `@RateLimit`, as they were given; more than one is a fault. */
  readonly limits: readonly (readonly PolicySource[])[];
  readonly cost: RequestCost | undefined;
  readonly skip: boolean;
}

/**
 * Limits a handler, or every handler of a class: rule text, an object, or the name of a `policy`
 * entry of the rule book. Several decide together: all allow, or none is spent.
 *
 * ```ts
 * @RateLimit('fixed-window,2,10')
 * @RateLimit({ limit: 100, window: '1m', burst: 200 })
 * @RateLimit('search', 'fixed-window,1000,1d,by=user')
 * @RateLimit('tokens', { cost: 1000, settle: (ctx, answer) => answer.tokens })
 * ```
 *
 * What a request costs stands last, after the rules: it is one for all of them.
 * Beats the rule book, but for its entries with `final=true`. Faults are told at start-up.
 */
export function RateLimit<const T extends readonly (PolicySource | RequestCost)[]>(
  ...given: CheckedRules<T>
): MethodDecorator & ClassDecorator {
  const [rules, cost] = splitCost<PolicySource>(given as unknown as T);
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const holder = holderOf('@RateLimit', target, key, descriptor);
    const before: Decoration['limits'] = Reflect.getOwnMetadata(LIMIT, holder) ?? [];
    Reflect.defineMetadata(LIMIT, [...before, rules], holder);
    if (cost) Reflect.defineMetadata(COST, cost, holder);
    const at = [target, key as string, descriptor as PropertyDescriptor] as const;
    UseGuards(RateLimitBinding)(...at);
    if (cost?.settle) UseInterceptors(RateLimitSettling)(...at);
  };
}

/**
 * Lets a handler, or every handler of a class, through uncounted: no rule of the book applies but
 * those with `final=true`. The nearest decorator wins: a handler's `@RateLimit` beats the skip of
 * its class.
 */
export function SkipRateLimit(): MethodDecorator & ClassDecorator {
  return (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    Reflect.defineMetadata(SKIP, true, holderOf('@SkipRateLimit', target, key, descriptor));
  };
}

/** What stands on this class or method itself; undefined when nothing does. */
export function decorationOf(holder: object): Decoration | undefined {
  const limits: Decoration['limits'] = Reflect.getOwnMetadata(LIMIT, holder) ?? [];
  const skip = Reflect.getOwnMetadata(SKIP, holder) === true;
  const cost: RequestCost | undefined = Reflect.getOwnMetadata(COST, holder);
  return limits.length === 0 && !skip ? undefined : { limits, cost, skip };
}

/**
 * The methods of a prototype that were decorated and do not show it: a decorator above has put
 * another function in their place.
 */
export function hiddenDecorations(prototype: object): string[] {
  const names: readonly string[] = Reflect.getOwnMetadata(DECORATED, prototype) ?? [];
  const shows = (name: string) => {
    const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    return typeof method === 'function' && decorationOf(method) !== undefined;
  };
  return [...new Set(names)].filter((name) => !shows(name));
}

/** What stands on a class, or on the nearest of those it extends. */
export function classDecorationOf(type: object): Decoration | undefined {
  for (let one: object | null = type; one; one = Object.getPrototypeOf(one)) {
    const decoration = decorationOf(one);
    if (decoration) return decoration;
  }
  return undefined;
}

function holderOf(
  decorator: string,
  target: object,
  key: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
): object {
  if (key === undefined) return target;
  const method: unknown = descriptor?.value;
  if (typeof method === 'function' && typeof target !== 'function') {
    const names: readonly unknown[] = Reflect.getOwnMetadata(DECORATED, target) ?? [];
    Reflect.defineMetadata(DECORATED, [...names, key], target);
    return method;
  }
  throw new TypeError(
    `${decorator} stands on a class or an instance method, not on ${String(key)}`,
  );
}
