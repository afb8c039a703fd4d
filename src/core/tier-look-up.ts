import type { Clock } from './clock.js';
import type { Tier } from './tier-rules.js';
import { WakeableSleep } from './wakeable-sleep.js';

/** One look-up of a user's tier that is under way, and those who wait for it. */
export class TierLookUp {
  /** For all who wait; undefined while the look-up begins. Never rejects. */
  answer: Promise<Tier | undefined> | undefined;
  private resolve: ((tier: Tier | undefined) => void) | undefined;
  private readonly patience: WakeableSleep;

  constructor(
    readonly userId: string,
    private readonly startMillis: number,
    clock: Clock,
  ) {
    this.patience = new WakeableSleep(clock);
  }

  ageMillis(now: number): number {
    return now - this.startMillis;
  }

  wait(): Promise<Tier | undefined> {
    this.answer = new Promise((resolve) => {
      this.resolve = resolve;
    });
    return this.answer;
  }

  /** Resolves when so much time has passed, when it has ended, and when the clock cannot sleep. */
  async sleep(millis: number): Promise<void> {
    try {
      await this.patience.sleep(millis);
    } catch {
      // Nobody waits for what cannot be timed.
    }
  }

  /** Tells all who wait, and ends the sleep. */
  end(tier: Tier | undefined): void {
    this.resolve?.(tier);
    this.patience.wake();
  }
}
