import type { StoreEvent } from '../../core/store-event.js';

/** Tells those who listen how the store is: a failure and a recovery once each, a warning once. */
export class Health {
  private readonly listeners = new Set<(event: StoreEvent) => void>();
  private readonly warned = new Set<string>();
  private down = false;

  listen(listener: (event: StoreEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  failed(error: Error): void {
    if (this.down) return;
    this.down = true;
    this.tell({ type: 'failed', error });
  }

  succeeded(): void {
    if (!this.down) return;
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
