/** How a sleep is slept. */
export interface SleepOptions {
  /**
   * Nobody waits for this one: a process that has nothing else to do ends meanwhile, and the sleep
   * never does. For polling and tidying up. Default false: the process stays alive until it is over.
   */
  readonly background?: boolean;
}

/**
 * Where limiters read the time, and how they wait. The one source of time: replace it and
 * everything moves with it.
 */
export abstract class Clock {
  /** Milliseconds since the epoch, 0 or more; fractions are cut off by those who read it. */
  abstract nowMillis(): number;

  /**
   * Resolves once `millis` have passed on this clock; at once for 0 or less. A clock of your own may
   * ignore `options` where its timers keep no process alive.
   *
   * @throws the reason of `signal`, as soon as it is aborted
   */
  sleep(millis: number, signal?: AbortSignal, options?: SleepOptions): Promise<void> {
    return sleepOnTimers(millis, signal, options?.background ?? false);
  }
}

/** Longer timers fire at once. */
const LONGEST_TIMER_MILLIS = 2 ** 31 - 1;

async function sleepOnTimers(
  millis: number,
  signal: AbortSignal | undefined,
  background: boolean,
): Promise<void> {
  signal?.throwIfAborted();
  for (let left = millis; left > 0; left -= LONGEST_TIMER_MILLIS) {
    signal?.throwIfAborted();
    await timer(Math.min(left, LONGEST_TIMER_MILLIS), signal, background);
  }
}

function timer(
  millis: number,
  signal: AbortSignal | undefined,
  background: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, millis);
    // Where timers are plain numbers, none keeps anything alive.
    if (background) handle.unref?.();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The process's own time: epoch milliseconds that never go back, whatever is done to the date. */
export class SystemClock extends Clock {
  /** Both looked up once: the two getters cost as much as the time itself. */
  private readonly performance = globalThis.performance;
  private readonly originMillis = this.performance.timeOrigin;

  nowMillis(): number {
    return Math.floor(this.originMillis + this.performance.now());
  }
}
