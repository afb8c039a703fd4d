import type { Faults } from '../core/fault.js';
import type { RuleBook } from '../core/index.js';
import { checkAvailable, type Surroundings } from '../core/rule-availability.js';

/** What a book asks for that is not there; also of one that stands in for the module's. */
export function checkBook(book: RuleBook, surroundings: Surroundings, faults: Faults): void {
  for (const { policy, place } of book.entries) {
    checkAvailable(policy, place, surroundings, faults);
  }
}
