import type { SleepOptions } from '../core/clock.js';
import { Clock } from '../core/index.js';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until it is told otherwise.
 *
 * ```ts
 * const clock = new FakeClock();
 * const module = await Test.createTestingModule({ imports: [AppModule] })
 *   .overrideProvider(Clock).useValue(clock).compile();
 * clock.advance(2000);
 * ```
 */
export class FakeClock extends Clock {
  private now: number;
  private readonly sleepers = new Set<Sleeper>();

  /** @param startMillis epoch milliseconds, 0 or more */
  constructor(startMillis = 0) {
    super();
    this.now = startMillis;
  }

  nowMillis(): number {
    return this.now;
  }

  /**
   * Moves on by `millis` and wakes, in the order of their moments, who slept until then. They run
   * as soon as the caller awaits anything.
   *
   * @throws RangeError for a negative number: `set` goes back
   */
  advance(millis: number): void {
    if (!(millis >= 0)) throw new RangeError(`A clock advances by 0 ms or more, got ${millis}`);
    this.set(this.now + millis);
  }

  /** Sets the time, forwards or back, as when someone sets the clock of a machine. */
  set(millis: number): void {
    this.now = millis;
    const due = [...this.sleepers].filter(({ until }) => until <= millis);
    for (const { wake } of due.sort((a, b) => a.until - b.until)) wake();
  }

  /** Sleeps until the clock is moved on. In the background or not: no timer, nothing kept alive. */
  override sleep(millis: number, signal?: AbortSignal, _options?: SleepOptions): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(millis > 0)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const sleeper = { until: this.now + millis, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
