import { requestMethodOf } from './route-templates.js';
import { mappingOf } from './transports/index.js';

/** A class with handlers, as far as names and decorators go. */
export type HandlerClass = { readonly name: string; readonly prototype: object };
export type Handler = (...args: never[]) => unknown;

/** Whether something reaches this method: a request, the call of a resolver, a message. */
export function isHandler(type: object, handler: object, name: string): boolean {
  return requestMethodOf(handler) !== undefined || mappingOf(type, handler, name) !== undefined;
}

/** Whether a provider is a gateway or a resolver. */
export function hasHandlers(type: HandlerClass): boolean {
  return [...methodsOf(type.prototype)].some(([name, method]) => isHandler(type, method, name));
}

/** The classes of a module's controllers or providers; a provider may be none. */
export function classesOf(wrappers: ReadonlyMap<unknown, { metatype: unknown }>): HandlerClass[] {
  return [...wrappers.values()]
    .map(({ metatype }) => metatype as HandlerClass)
    .filter((type: unknown) => typeof (type as HandlerClass | null)?.prototype === 'object');
}

/** The methods of a class and those it inherits, the nearest of each name. */
export function methodsOf(prototype: object): Map<string, Handler> {
  const methods = new Map<string, Handler>();
  for (let one = prototype; one && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) {
      const value: unknown = Object.getOwnPropertyDescriptor(one, name)?.value;
      if (name === 'constructor' || methods.has(name) || typeof value !== 'function') continue;
      methods.set(name, value as Handler);
    }
  }
  return methods;
}
