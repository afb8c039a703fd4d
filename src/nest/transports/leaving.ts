import type { Leaving } from '../waiting.js';

/** What tells that it was closed: Node's response, a socket. */
export interface Closing {
  readonly destroyed?: boolean;
  once(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/**
 * Watches whether this is closed before the answer: nobody waits for it any more.
 *
 * @param event by which it tells that
 */
export function leavingOf(
  closing: Closing,
  event = 'close',
  gone = closing.destroyed === true,
): Leaving {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (gone) abort();
  else closing.once(event, abort);
  return { signal: controller.signal, done: () => closing.off(event, abort) };
}

/** Of callers whose leaving cannot be seen. */
export function neverLeaving(): Leaving {
  return { signal: new AbortController().signal, done: () => undefined };
}
