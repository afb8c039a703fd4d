import type { ModulesContainer } from '@nestjs/core';
import type { Faults } from '../core/fault.js';
import { decorationOf, hiddenDecorations } from './decorators.js';
import { requestMethodOf } from './route-templates.js';

type Class = { readonly name: string; readonly prototype: object };

/**
 * Decorators that cannot take effect: on a provider, on a controller's method that is no HTTP
 * handler, or on a method that a subclass overrides without repeating them. Each would look like
 * a limit and be none.
 */
export function findIdleDecorators(modules: ModulesContainer, faults: Faults): void {
  const seen = new Set<unknown>();
  const classes = (wrappers: ReadonlyMap<unknown, { metatype: unknown }>) =>
    [...wrappers.values()]
      .map(({ metatype }) => metatype as Class)
      .filter((type: unknown) => typeof (type as Class | null)?.prototype === 'object')
      .filter((type) => !seen.has(type) && seen.add(type));
  for (const { controllers } of modules.values()) {
    for (const type of classes(controllers)) checkController(type, faults);
  }
  for (const { providers, injectables } of modules.values()) {
    for (const type of [...classes(providers), ...classes(injectables)])
      checkProvider(type, faults);
  }
}

function checkController(type: Class, faults: Faults): void {
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
  for (const [name, versions] of overridesOf(type.prototype)) {
    const [used, ...dropped] = versions;
    const decorated = decorationOf(used!) !== undefined;
    if (decorated && requestMethodOf(used!) === undefined) {
      const problem = 'it is no HTTP handler, so no guard runs before it';
      noEffect(`${type.name}.${name}`, problem, faults);
    }
    if (decorated || requestMethodOf(used!) === undefined) continue;
    if (dropped.some((method) => decorationOf(method) !== undefined)) {
      const problem =
        'it overrides a decorated handler and drops its decorator; repeat @RateLimit or say @SkipRateLimit()';
      const place = `${type.name}.${name}`;
      faults.add({ code: 'DECORATOR_LOST', place, given: 'no @RateLimit', problem });
    }
  }
}

function checkProvider(type: Class, faults: Faults): void {
  const problem = 'providers have no guards; the decorators belong on controllers';
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
