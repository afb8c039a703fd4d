import type { StoreEvent } from '../../core/store-event.js';

/**
 * Redis counts as recovered when it answers this long after the last failure, so that one that fails
 * now and then is told of as one failure, not twice for each request.
 */
const QUIET_MILLIS = 1000;

/** Tells those who listen how the store is: a failure and a recovery once each, a warning once. */
export class Health {
  private readonly listeners = new Set<(event: StoreEvent) => void>();
  private readonly warned = new Set<string>();
  private down = false;
  private failedAt = 0;

  listen(listener: (event: StoreEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  failed(error: Error, nowMillis: number): void {
    this.failedAt = Math.max(this.failedAt, nowMillis);
    if (this.down) return;
    this.down = true;
    this.tell({ type: 'failed', error });
  }

  succeeded(nowMillis: number): void {
    if (!this.down || nowMillis < this.failedAt + QUIET_MILLIS) return;
    this.down = false;
    this.tell({ type: 'recovered' });
  }

  warn(code: string, message: string): void {
    if (this.warned.has(code)) return;
    this.warned.add(code);
    this.tell({ type: 'warning', code, message });
  }

  /** A listener that throws harms neither the others nor the decision that was on its way. */
  tell(event: StoreEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {}
    }
  }
}
