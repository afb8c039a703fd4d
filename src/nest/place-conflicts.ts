import type { DecoratedLimits } from '../core/applicable-limits.js';
import type { Faults } from '../core/fault.js';
import type { HandlerCatalog, HandlerEntry } from './handler-catalog.js';

/** Handlers of different classes that would share a counter only since their names are equal. */
export function checkPlaces(
  catalog: HandlerCatalog,
  limitsOf: (entry: HandlerEntry) => DecoratedLimits,
  faults: Faults,
): void {
  const places = new Map<string, object>();
  for (const entry of catalog.all()) {
    const { place, type } = entry;
    const other = places.get(place);
    places.set(place, type);
    if (!other || other === type || !countsByPlace(place, limitsOf(entry))) continue;
    const problem =
      'another class of that name in a module of that name has this handler too; rename one, or give the rule a name';
    faults.add({ code: 'PLACE_CONFLICT', place, given: '@RateLimit', problem });
  }
}

function countsByPlace(place: string, limits: DecoratedLimits): boolean {
  if (limits === undefined || limits === 'skip') return false;
  const counted = limits.filter((placed) => placed.place === place);
  return counted.some(({ policy }) => policy.rules.some((rule) => !rule.name));
}
