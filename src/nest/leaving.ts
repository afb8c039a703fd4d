import type { HttpResponse } from './http-platform.js';
import type { Leaving } from './waiting.js';

/** Watches whether a response is closed before it was answered: nobody waits for it any more. */
export function leavingOf(response: HttpResponse): Leaving {
  const raw = response.raw ?? response;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (raw.destroyed) abort();
  else raw.once('close', abort);
  return { signal: controller.signal, done: () => raw.off('close', abort) };
}
