import { show } from '../core/fault.js';

/**
 * What a function of the application threw or answered, for one line of a log. Never throws, whatever
 * the value does when it is looked at.
 */
export function shown(value: unknown): string {
  try {
    const text = value instanceof Error ? String(value) : show(value);
    return text.slice(0, 120).replace(/[^\x20-\x7e]/g, '?');
  } catch {
    return 'something that cannot be shown';
  }
}
