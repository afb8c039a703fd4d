import cluster from 'node:cluster';
import type { ModulesContainer } from '@nestjs/core';
import type { Faults } from '../core/fault.js';
import { MemoryStore, type RateLimitStore, type RuleBook } from '../core/index.js';
import type { CurrentRules } from './current-rules.js';
import type { Doors } from './doors.js';
import type { HandlerCatalog } from './handler-catalog.js';
import type { Settings } from './settings.js';
import type { TierSource } from './tier-source.js';
import type { Warnings } from './warnings.js';

/** What is looked at once, when the application starts. */
export interface StartupParts {
  readonly settings: Settings;
  readonly rules: CurrentRules;
  readonly tierSource: TierSource;
  readonly store: RateLimitStore;
  readonly catalog: HandlerCatalog;
  readonly modules: ModulesContainer;
  readonly doors: Doors;
  readonly warnings: Warnings;
  /** Faults that options and book had already. */
  readonly faults: Faults;
}

/**
 * Looks for every fault before the first request is served.
 *
 * @param module the class whose imports are counted
 * @throws RateLimitConfigError with all of them
 */
export function checkAtStart(parts: StartupParts, module: object): void {
  const { modules, catalog, rules, tierSource, settings, store, faults } = parts;
  const imported = [...modules.values()].filter(({ metatype }) => metatype === module).length;
  if (imported > 1) {
    const problem = `it is imported ${imported} times; import it once, in the root module`;
    const given = 'RateLimitModule.forRoot()';
    faults.add({ code: 'MODULE_TWICE', place: 'the application', given, problem });
  }
  const secret = [...settings.dimensions.values()].some((dimension) => dimension.secret);
  if (secret && settings.secretKey === undefined && !(store instanceof MemoryStore)) {
    const problem = 'secret dimensions are hashed with it, and every instance needs the same';
    faults.add({ code: 'OPTION_VALUE', place: 'option secretKey', given: 'nothing', problem });
  }
  tierSource.prepare(faults);
  catalog.scan(faults);
  rules.now.check(faults);
  faults.throwIfAny();
}

/** One line that says what is in force, and warnings of what will probably surprise. */
export function tellAtStart(parts: StartupParts): void {
  const { rules, store, catalog, warnings } = parts;
  const { book, mode } = rules.now;
  const decorated = [...catalog.all()].filter((entry) =>
    Array.isArray(rules.now.decoratedLimits(entry)),
  );
  const number = `${count(book.entries.length, 'rule')} in the book, ${count(decorated.length, 'decorated handler')}`;
  warnings.log(`${number}, ${store.name} store, ${stageText(parts)}${MODES[mode]}`);
  warnOfRules(parts);
  warnOfEvictions(store, warnings);
  const oneOfSeveral =
    cluster.isWorker ||
    process.env['NODE_APP_INSTANCE'] !== undefined ||
    process.env['pm_id'] !== undefined;
  if (oneOfSeveral && store.name === 'memory') {
    warnings.once(
      'processes',
      'This is one of several processes, and each counts in its own memory: together they let through as many times the limit. A shared store counts them as one',
    );
  }
}

/** What is probably a mistake in the rules in force: looked for at each reload too, told once. */
export function warnOfRules(parts: StartupParts): void {
  const { rules, catalog, doors, warnings } = parts;
  warnUnmatched(rules.now.book, catalog, warnings);
  warnOfTiers(parts);
  if (!doors.isMissing(catalog, rules.now)) return;
  warnings.once(
    'second door',
    'The new rules tell users apart on handlers with guards of their own, and none did at the start: until a restart such callers are counted by address',
  );
}

const MODES = {
  enforce: '',
  shadow: ', mode shadow: nobody is refused',
  off: ', mode off: nothing is limited',
} as const;

/** Where it is decided, and what that does not cover. */
function stageText({ settings, doors, catalog, rules }: StartupParts): string {
  const before = doors.guardsBefore();
  const uncovered =
    before.length === 0
      ? ''
      : `; what ${before.join(', ')} refuses is not counted, as it runs before the guard`;
  const unknown = doors.unknownAt(catalog, rules.now);
  if (unknown === 0) return `decided in the guard${uncovered}`;
  const handlers = `at ${count(unknown, 'handler')} with guards of their own`;
  return settings.stage === 'guard'
    ? `decided in the guard, ${handlers} by address${uncovered}`
    : `decided in the guard, ${handlers} by user after them${uncovered}`;
}

function warnOfTiers({ rules, settings, warnings }: StartupParts): void {
  const tiers = [...rules.now.book.tierNames];
  if (tiers.length === 0 || settings.tierOf !== undefined) return;
  warnings.once(
    'tiers',
    `The rule book has rules for the tiers ${tiers.join(', ')}, but no user has a tier: say which with the option tierOf`,
  );
}

/**
 * Tells what happens to the store: a line when it fails and a line when it is back, however many
 * requests meet that; and what it warns of.
 *
 * @returns what stops it
 */
export function tellStoreEvents({ store, warnings }: StartupParts): () => void {
  return store.onEvent((event) => {
    if (event.type === 'failed') warnings.storeFailed(store.name, event.error);
    if (event.type === 'recovered') warnings.storeRecovered(store.name);
    if (event.type === 'warning') warnings.warn(event.message);
  });
}

/** Once: more keys are at their limit at the same time than the store has room for. */
function warnOfEvictions(store: RateLimitStore, warnings: Warnings): void {
  if (!(store instanceof MemoryStore)) return;
  const stop = store.onEviction(({ atLimit }) => {
    if (!atLimit) return;
    stop();
    warnings.once(
      'evictions',
      'The memory store is full of keys that are at their limit, and one of them was forgotten: raise maxKeys, or limit more coarsely',
    );
  });
}

/** A path that no route has is a typing mistake, or a route that is gone. */
function warnUnmatched(book: RuleBook, catalog: HandlerCatalog, warnings: Warnings): void {
  const routes = [...catalog.all()].flatMap((entry) => entry.routes);
  if (routes.length === 0) return;
  for (const { key } of book.entries) {
    const api = key.section === 'api' ? key.id : key.api;
    if (!api?.includes('/') || catalog.serving(api).length > 0) continue;
    const known = [...new Set(routes.map(({ name }) => name))].slice(0, 20).join(', ');
    warnings.once(
      `route ${api}`,
      `The rule book names "${api}", which no route has; there are ${known}`,
    );
  }
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
