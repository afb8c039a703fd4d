import { show } from '../core/fault.js';

/**
 * What a function of the application threw or answered, for one line of a log. Never throws, whatever
 * the value does when it is looked at.
 */
export function shown(value: unknown): string {
  return textOf(value)
    .slice(0, 120)
    .replace(/[^\x20-\x7e]/g, '?');
}

/** An error with its name; what has none to tell, or throws when it is asked, as any other value. */
function textOf(value: unknown): string {
  try {
    if (value instanceof Error) return String(value);
  } catch {
    // Then it is shown without its own help.
  }
  return show(value);
}
