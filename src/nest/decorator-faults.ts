import type { ModulesContainer } from '@nestjs/core';
import type { Faults } from '../core/fault.js';
import { decorationOf, hiddenDecorations } from './decorators.js';
import { classesOf, type HandlerClass, hasHandlers, isHandler } from './handler-classes.js';
import { fieldsAreGuarded, mappingOf } from './transports/index.js';

/**
 * Decorators that cannot take effect: on a provider, on a method that handles nothing, on a field of
 * GraphQL that has no guards, or on a method that a subclass overrides without repeating them. Each
 * would look like a limit and be none.
 */
export function findIdleDecorators(modules: ModulesContainer, faults: Faults): void {
  const seen = new Set<unknown>();
  const guardedFields = fieldsAreGuarded(modules);
  const fresh = (types: HandlerClass[]) =>
    types.filter((type) => !seen.has(type) && seen.add(type));
  for (const { controllers } of modules.values()) {
    for (const type of fresh(classesOf(controllers))) checkHandlers(type, guardedFields, faults);
  }
  for (const { providers, injectables } of modules.values()) {
    for (const type of fresh([...classesOf(providers), ...classesOf(injectables)])) {
      if (hasHandlers(type)) checkHandlers(type, guardedFields, faults);
      else checkProvider(type, faults);
    }
  }
}

/** Of a controller, a gateway or a resolver. */
function checkHandlers(type: HandlerClass, guardedFields: boolean, faults: Faults): void {
  checkHidden(type, faults);
  for (const [name, versions] of overridesOf(type.prototype)) {
    const [used, ...dropped] = versions as [object, ...object[]];
    const decorated = decorationOf(used) !== undefined;
    const handles = isHandler(type, used, name);
    if (decorated && !handles) {
      const problem = 'it handles no request and no message, so no guard runs before it';
      noEffect(`${type.name}.${name}`, problem, faults);
    }
    if (decorated && !guardedFields && mappingOf(type, used, name)?.isField) {
      const problem =
        "fields have no guards: set fieldResolverEnhancers: ['guards'] in GraphQLModule, or decorate the query";
      noEffect(`${type.name}.${name}`, problem, faults);
    }
    if (decorated || !handles) continue;
    if (dropped.some((method) => decorationOf(method) !== undefined)) {
      const problem =
        'it overrides a decorated handler and drops its decorator; repeat @RateLimit or say @SkipRateLimit()';
      const place = `${type.name}.${name}`;
      faults.add({ code: 'DECORATOR_LOST', place, given: 'no @RateLimit', problem });
    }
  }
}

function checkHidden(type: HandlerClass, faults: Faults): void {
  for (
    let one = type.prototype;
    one && one !== Object.prototype;
    one = Object.getPrototypeOf(one)
  ) {
    for (const name of hiddenDecorations(one)) {
      const problem =
        'a decorator above it puts another function in its place; write it above that one';
      noEffect(`${type.name}.${name}`, problem, faults);
    }
  }
}

function checkProvider(type: HandlerClass, faults: Faults): void {
  const problem =
    'such providers have no guards; the decorators belong on controllers, gateways and resolvers';
  if (decorationOf(type)) noEffect(type.name, problem, faults);
  for (const [name, versions] of overridesOf(type.prototype)) {
    if (versions.some((method) => decorationOf(method)))
      noEffect(`${type.name}.${name}`, problem, faults);
  }
}

function noEffect(place: string, problem: string, faults: Faults): void {
  faults.add({ code: 'DECORATOR_NO_EFFECT', place, given: '@RateLimit', problem });
}

/** Each method name of a class with its functions, nearest first. */
function overridesOf(prototype: object): Map<string, object[]> {
  const methods = new Map<string, object[]>();
  for (let one = prototype; one && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) {
      const value: unknown = Object.getOwnPropertyDescriptor(one, name)?.value;
      if (name === 'constructor' || typeof value !== 'function') continue;
      methods.set(name, [...(methods.get(name) ?? []), value]);
    }
  }
  return methods;
}
