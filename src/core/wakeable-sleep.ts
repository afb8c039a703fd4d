import type { Clock } from './clock.js';

/** Longer timers fire at once, also those of a clock that does not take them in parts. */
const LONGEST_SLEEP_MILLIS = 2 ** 31 - 1;
const WOKEN = new Error('woken');

/** Sleeps on a clock until the time has come or it is woken. */
export class WakeableSleep {
  private awake: AbortController | undefined;

  constructor(private readonly clock: Clock) {}

  /**
   * Resolves at the latest when `millis` have passed; sooner when woken, or after the longest timer.
   *
   * @throws what the clock throws, but for having been woken
   */
  async sleep(millis: number): Promise<void> {
    const awake = new AbortController();
    this.awake = awake;
    try {
      await this.clock.sleep(Math.min(millis, LONGEST_SLEEP_MILLIS), awake.signal);
    } catch (error) {
      // A clock may reject with an error of its own.
      if (!awake.signal.aborted) throw error;
    }
    if (this.awake === awake) this.awake = undefined;
  }

  wake(): void {
    this.awake?.abort(WOKEN);
    this.awake = undefined;
  }
}
