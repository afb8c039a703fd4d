import { Clock, type SleepOptions } from './clock.js';

/** The largest moment a Date can hold; later ones are a mistake of whoever tells the time. */
const LAST_MOMENT = 8.64e15;

const readers = new WeakMap<Clock, SteadyClock>();

/**
 * Reads another clock and absorbs its steps back: what a step took away is added to every later
 * reading, so time as the limiters see it stands still for an instant and goes on. A step back
 * neither gives anything away nor blocks anyone.
 *
 * All who read one clock share one reader (`over`): with an offset each they would disagree.
 */
export class SteadyClock extends Clock {
  private last = 0;
  private offset = 0;

  private constructor(private readonly clock: Clock) {
    super();
  }

  static over(clock: Clock): SteadyClock {
    if (clock instanceof SteadyClock) return clock;
    let reader = readers.get(clock);
    if (!reader) {
      reader = new SteadyClock(clock);
      readers.set(clock, reader);
    }
    return reader;
  }

  /**
   * Whole milliseconds, never smaller than at the last call.
   *
   * @throws RangeError when the clock answers what is no moment
   */
  nowMillis(): number {
    const read = Math.floor(this.clock.nowMillis());
    if (read >= this.last && read <= LAST_MOMENT) {
      this.last = read;
      return read + this.offset;
    }
    if (!(read >= 0 && read <= LAST_MOMENT)) {
      throw new RangeError(`A clock tells epoch milliseconds from 0 on, got ${read}`);
    }
    this.offset += this.last - read;
    this.last = read;
    return read + this.offset;
  }

  override sleep(millis: number, signal?: AbortSignal, options?: SleepOptions): Promise<void> {
    return this.clock.sleep(millis, signal, options);
  }
}
