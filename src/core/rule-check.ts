import type { AlgorithmKind } from './algorithms/algorithm.js';
import { EXACT_BOUND } from './algorithms/integers.js';
import { parseDuration } from './duration.js';
import type { Faults } from './fault.js';
import { wholeNumber } from './rule-options.js';

interface Numbers {
  readonly kind: AlgorithmKind | undefined;
  readonly limit: string;
  readonly window: string;
  readonly burst: number | undefined;
}

/** The numbers of a rule, whole and in a range in which the algorithm is exact. */
export function checkNumbers(
  { kind, limit: limitText, window, burst }: Numbers,
  given: string,
  place: string,
  faults: Faults,
): { limit: number; windowMillis: number; burst?: number } | undefined {
  const limit = wholeNumber(limitText);
  if (limit === undefined) {
    const problem = `limit must be a positive whole number, got ${limitText || 'nothing'}`;
    faults.add({ code: 'RULE_LIMIT', place, given, problem });
  }
  const windowMillis = parseDuration(window);
  if (windowMillis === undefined) {
    const right = 'window must be a time of whole milliseconds such as 10, 0.5, 250ms, 5m or 1d';
    faults.add({
      code: 'RULE_WINDOW',
      place,
      given,
      problem: `${right}, got ${window || 'nothing'}`,
    });
  }
  if (kind && burst !== undefined && !kind.takesBurst) {
    const problem = `burst is an option of token-bucket only, not of ${kind.name}`;
    faults.add({ code: 'RULE_OPTION', place, given, problem });
  }
  if (!kind || limit === undefined || windowMillis === undefined) return undefined;
  const numbers = { limit, windowMillis, ...(kind.takesBurst && { burst: burst ?? limit }) };
  if (kind.largestInteger(numbers) < EXACT_BOUND) return numbers;
  const problem = `these numbers cannot be counted exactly; the nearest that can: ${kind.nearestExact({ limit, windowMillis, burst })}`;
  return faults.add({ code: 'RULE_INEXACT', place, given, problem });
}
