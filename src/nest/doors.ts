import type { CanActivate, NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { CounterPlan } from '../core/counter-plan.js';
import type { HandlerCatalog, HandlerEntry } from './handler-catalog.js';
import { RateLimitBinding } from './rate-limit.binding.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import type { RulesInForce } from './rules-in-force.js';
import type { Settings } from './settings.js';

/** Metadata key of Nest's own `@UseGuards`; the same since Nest 5. */
const GUARDS = '__guards__';

type Bound = CanActivate | { readonly name: string; readonly prototype: unknown } | undefined;

/**
 * At which doors an application decides.
 *
 *   global guards ──► guards of the class ──► of the method ──► interceptors ──► handler
 *   ▲ the first door: ours, put before all others             ▲ the second door
 *
 * Nest runs global guards before those of classes and methods, so who asks is often told only after
 * our guard, by a guard of the application. On a handler that has such guards a caller whom ours
 * does not know is charged by address, so that a flood of them is limited whatever those guards
 * answer; and when all have passed, the second door decides by user and gives the address's back.
 * It is an interceptor, and since an idle one costs more than the guard, routes of HTTP and GraphQL
 * have it only where a handler needs it. Gateways and microservices, for which Nest makes its lists
 * of guards and interceptors before the module is asked, always have it.
 */
export class Doors {
  /** Whether the second door is there. */
  private second = false;
  private readonly known = new WeakMap<object, Map<object, boolean>>();
  private guard: RateLimitGuard | undefined;

  constructor(
    private readonly config: ApplicationConfig,
    private readonly settings: Pick<Settings, 'stage' | 'order' | 'rulesFile'>,
  ) {}

  /** Called when all global guards are there, and before the routes are mapped. */
  settle(
    guard: RateLimitGuard,
    door: NestInterceptor,
    catalog: HandlerCatalog,
    rules: RulesInForce,
  ): void {
    this.guard = guard;
    const guards = this.config.getGlobalGuards() as unknown[];
    const at = guards.indexOf(guard);
    if (this.settings.order === 'first' && at > 0) guards.unshift(...guards.splice(at, 1));
    const interceptors = this.config.getGlobalInterceptors() as NestInterceptor[];
    if (interceptors.includes(door)) interceptors.splice(interceptors.indexOf(door), 1);
    this.second = this.isAsked(catalog, rules);
    // Before all others, among which may be a cache that answers.
    if (this.second) interceptors.unshift(door);
  }

  /** Whether callers may be decided by user after the guards of this handler. */
  decidesTwice(entry: HandlerEntry): boolean {
    if (this.settings.stage === 'guard') return false;
    return (this.second || isBoundEarly(entry)) && this.guardsAfter(entry.type, entry.handler);
  }

  /** How many handlers have rules for users, and guards after ours that may tell who they are. */
  unknownAt(catalog: HandlerCatalog, rules: RulesInForce): number {
    return [...catalog.all()].filter((entry) => this.mayBeUnknown(entry, rules)).length;
  }

  /** Whether the second door is missing: rules that came later need it. */
  isMissing(catalog: HandlerCatalog, rules: RulesInForce): boolean {
    return this.settings.stage === 'auto' && !this.second && this.isNeeded(catalog, rules);
  }

  /** The global guards that run before ours: what they refuse is counted nowhere. */
  guardsBefore(): string[] {
    const guards = this.config.getGlobalGuards() as Bound[];
    const at = guards.indexOf(this.guard);
    return guards.slice(0, Math.max(0, at)).map(nameOf);
  }

  private isAsked(catalog: HandlerCatalog, rules: RulesInForce): boolean {
    // Routes are mapped once: where a file is watched, rules that need it may come at any time.
    const mayCome = this.settings.rulesFile?.pollMillis !== undefined;
    // Only HTTP tells without it how a call ends.
    if (catalog.hasResolvers && (mayCome || rules.countsOutcomes)) return true;
    if (this.settings.stage === 'guard') return false;
    if (!mayCome) return this.isNeeded(catalog, rules);
    return boundLate(catalog).some(({ type, handler }) => this.guardsAfter(type, handler));
  }

  private isNeeded(catalog: HandlerCatalog, rules: RulesInForce): boolean {
    return boundLate(catalog).some((entry) => this.mayBeUnknown(entry, rules));
  }

  private mayBeUnknown(entry: HandlerEntry, rules: RulesInForce): boolean {
    if (!this.guardsAfter(entry.type, entry.handler)) return false;
    return entry.routes.some((route) => {
      const limits = rules.limitsOf(entry, route);
      return limits.personal || limits.plansFor(undefined).some(tellsCallersApart);
    });
  }

  private guardsAfter(type: object, handler: object): boolean {
    const ofType = this.known.get(type) ?? new Map<object, boolean>();
    this.known.set(type, ofType);
    let after = ofType.get(handler);
    if (after === undefined) {
      after = this.findGuardsAfter(type, handler);
      ofType.set(handler, after);
    }
    return after;
  }

  /** In the order in which Nest runs them: global ones, those of a request, the class's, the method's. */
  private findGuardsAfter(type: object, handler: object): boolean {
    const guards: Bound[] = [
      ...(this.config.getGlobalGuards() as Bound[]),
      ...this.config.getGlobalRequestGuards().map(({ metatype }) => metatype as Bound),
      ...((Reflect.getMetadata(GUARDS, type) as Bound[] | undefined) ?? []),
      ...((Reflect.getMetadata(GUARDS, handler) as Bound[] | undefined) ?? []),
    ];
    const ours = guards.findIndex(isOurs);
    return ours >= 0 && guards.slice(ours + 1).some((guard) => !isOurs(guard));
  }
}

/** Whether Nest binds its guards and interceptors before the module is asked which. */
function isBoundEarly({ transport }: HandlerEntry): boolean {
  return transport === 'ws' || transport === 'rpc';
}

function boundLate(catalog: HandlerCatalog): HandlerEntry[] {
  return [...catalog.all()].filter((entry) => !isBoundEarly(entry));
}

function isOurs(guard: Bound): boolean {
  if (guard instanceof RateLimitGuard || guard === RateLimitBinding) return true;
  return typeof guard === 'function' && guard.prototype instanceof RateLimitGuard
    ? true
    : guard === RateLimitGuard;
}

/** Whether the rule counts by what may be known only when other guards have run. */
function tellsCallersApart({ by }: CounterPlan): boolean {
  return by.some((dimension) => !['api', 'ip', 'global'].includes(dimension));
}

function nameOf(guard: Bound): string {
  if (typeof guard === 'function') return guard.name;
  return guard?.constructor.name ?? 'a guard';
}
