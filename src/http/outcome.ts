import type { CountMode } from '../core/rule-fields.js';

/**
 * Whether a request stays counted that was answered with this status. A failure is the caller's
 * (4xx), a success anything below; an error of the server counts in neither.
 */
export function staysCounted(count: CountMode, status: number): boolean {
  if (count === 'failures') return status >= 400 && status < 500;
  return count === 'all' || status < 400;
}
