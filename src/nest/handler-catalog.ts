import { RequestMethod } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { type ApiName, canonicalMethod, parseApiName } from '../core/api-name.js';
import type { Faults } from '../core/fault.js';
import { type Decorated, decoratedCost, placeOfHandler } from './decorated-limits.js';
import { findIdleDecorators } from './decorator-faults.js';
import { classDecorationOf, decorationOf } from './decorators.js';
import {
  classesOf,
  type Handler,
  type HandlerClass,
  hasHandlers,
  isHandler,
  methodsOf,
} from './handler-classes.js';
import type { RequestCost } from './request-cost.js';
import { requestMethodOf, templatesOf } from './route-templates.js';
import { fieldsAreGuarded, type Mapping, mappingOf } from './transports/index.js';

/** A handler of the application. */
export interface HandlerEntry {
  /** Its class. */
  readonly type: object;
  readonly handler: object;
  readonly place: string;
  /** What decorates it, whatever the book says of the names in it. */
  readonly decorated: Decorated;
  readonly cost: RequestCost | undefined;
  /** By which it is reached; one that HTTP reaches too is of HTTP. */
  readonly transport: 'http' | Mapping['transport'];
  /** Whether it resolves a field of GraphQL. */
  readonly isField: boolean;
  /** What it is reached by, as far as that can be told before a request. */
  readonly routes: readonly ApiName[];
}

/**
 * The handlers of the application and what decorates them: read once at start-up, by class and
 * handler, since controllers that extend one base share its functions.
 */
export class HandlerCatalog {
  private readonly entries = new Map<object, Map<object, HandlerEntry>>();
  private readonly ofClasses: Decorated[] = [];

  constructor(
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
  ) {}

  /**
   * Finds the handlers of every controller, gateway and resolver; decorators without effect are
   * added to `faults`.
   */
  scan(faults: Faults): void {
    for (const module of this.modules.values()) {
      for (const type of classesOf(module.controllers)) this.add(type, module.metatype);
      for (const type of classesOf(module.providers)) {
        if (hasHandlers(type)) this.add(type, module.metatype);
      }
    }
    findIdleDecorators(this.modules, faults);
  }

  /** What is known of a handler; one of a module that was loaded later is read now. */
  entry(type: object, handler: object): HandlerEntry {
    const handlers = this.entries.get(type) ?? new Map<object, HandlerEntry>();
    this.entries.set(type, handlers);
    let entry = handlers.get(handler);
    if (!entry) {
      const { name } = handler as Handler;
      entry = this.readHandler(type as HandlerClass, Object, name, handler);
      handlers.set(handler, entry);
    }
    return entry;
  }

  /** All handlers. */
  *all(): Iterable<HandlerEntry> {
    for (const handlers of this.entries.values()) yield* handlers.values();
  }

  /** Whether there is a resolver of GraphQL. */
  get hasResolvers(): boolean {
    return [...this.all()].some(({ transport }) => transport === 'graphql');
  }

  /** Whether guards run before the resolvers of fields. */
  get guardsFields(): boolean {
    return fieldsAreGuarded(this.modules);
  }

  /** What decorates the classes themselves. */
  classes(): readonly Decorated[] {
    return this.ofClasses;
  }

  /** The handlers that serve an api, each with its method: `/orders` may be several. */
  serving(api: string): { entry: HandlerEntry; route: ApiName }[] {
    const { method, name } = parseApiName(api);
    return [...this.all()].flatMap((entry) =>
      entry.routes
        .filter((route) => route.name === name)
        .filter((route) => !method || !route.method || route.method === method)
        .map((route) => ({ entry, route: { name, method: route.method ?? method } })),
    );
  }

  private add(type: HandlerClass, module: HandlerClass): void {
    if (this.entries.has(type)) this.addRoutes(type, module);
    else this.entries.set(type, this.readClass(type, module));
  }

  /** A class that stands in several modules may be mapped under several paths. */
  private addRoutes(type: HandlerClass, module: HandlerClass): void {
    const handlers = this.entries.get(type)!;
    for (const [handler, entry] of handlers) {
      if (entry.transport !== 'http') continue;
      const routes = [...entry.routes, ...this.routesOf(type, module, handler)];
      handlers.set(handler, { ...entry, routes });
    }
  }

  private readClass(type: HandlerClass, module: HandlerClass) {
    const handlers = new Map<object, HandlerEntry>();
    this.ofClasses.push(this.readHandler(type, module, '', {}).decorated);
    for (const [name, handler] of methodsOf(type.prototype)) {
      if (!isHandler(type, handler, name)) continue;
      handlers.set(handler, this.readHandler(type, module, name, handler));
    }
    return handlers;
  }

  private readHandler(
    type: HandlerClass,
    module: HandlerClass,
    methodName: string,
    handler: object,
  ): HandlerEntry {
    const mapping = mappingOf(type, handler, methodName);
    const isField = mapping?.isField === true;
    const isHttp = mapping === undefined || requestMethodOf(handler) !== undefined;
    const decorated: Decorated = {
      moduleName: module.name,
      className: type.name,
      methodName,
      handler: decorationOf(handler),
      class: isField ? undefined : classDecorationOf(type),
    };
    return {
      isField,
      transport: isHttp ? 'http' : mapping.transport,
      type,
      handler,
      place: placeOfHandler(decorated),
      decorated,
      cost: decoratedCost(decorated),
      routes: [...this.routesOf(type, module, handler), ...(mapping?.apis ?? [])],
    };
  }

  private routesOf(type: HandlerClass, module: HandlerClass, handler: object): ApiName[] {
    const requestMethod = requestMethodOf(handler);
    if (requestMethod === undefined) return [];
    const controller = { type, module, applicationId: this.modules.applicationId };
    const all = requestMethod === RequestMethod.ALL;
    const method = all ? undefined : canonicalMethod(RequestMethod[requestMethod]!);
    const names = templatesOf(controller, handler, this.config);
    return names.map((name) => ({ name, method }));
  }
}
