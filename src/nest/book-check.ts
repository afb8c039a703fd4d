import type { Faults } from '../core/fault.js';
import type { RuleBook } from '../core/index.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';
import type { HandlerCatalog } from './handler-catalog.js';

/** What a book asks for that is not there; also of one that stands in for the module's. */
export function checkBook(book: RuleBook, surroundings: Surroundings, faults: Faults): void {
  for (const { policy, place } of book.entries) {
    checkAvailable(policy, place, surroundings, faults);
  }
}

/** Entries for fields of GraphQL before which no guard runs: they would look like limits and be none. */
export function checkFields(book: RuleBook, catalog: HandlerCatalog, faults: Faults): void {
  if (catalog.guardsFields) return;
  const fields = new Set<string>();
  for (const { isField, routes } of catalog.all()) {
    if (isField) for (const { name } of routes) fields.add(name);
  }
  for (const { key, policy, place } of book.entries) {
    const api = key.section === 'api' ? key.id : key.api;
    if (api === undefined || !fields.has(api)) continue;
    const problem =
      "fields have no guards: set fieldResolverEnhancers: ['guards'] in GraphQLModule, or limit the query";
    faults.add({ code: 'BOOK_KEY', place, given: `${policy}`, problem });
  }
}
