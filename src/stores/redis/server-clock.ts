/** A clock may run so much faster or slower than another, by what servers are allowed to slew it. */
const DRIFT = 500e-6;

/**
 * What is known of the server's time here. Every reply carries it, read before the reply came: so
 * server time less the time of receipt is never above the true difference of both clocks, and the
 * largest of these is the nearest. It loses what the clocks may have drifted since.
 */
export class ServerClock {
  private difference = Number.NEGATIVE_INFINITY;
  private sampledAt = 0;

  /** @param fallback what is taken while nothing is known of this one */
  constructor(private readonly fallback?: ServerClock) {}

  /** @param receivedAt milliseconds of this process's monotonic clock */
  sample(serverMillis: number, receivedAt: number): void {
    this.difference = Math.max(serverMillis - receivedAt, this.differenceAt(receivedAt));
    this.sampledAt = receivedAt;
  }

  /** The server's time at that moment, or earlier; undefined when nothing is known yet. */
  at(moment: number): number | undefined {
    const millis = Math.floor(this.differenceAt(moment) + moment);
    return Number.isFinite(millis) ? millis : this.fallback?.at(moment);
  }

  /** Behind a new connection may be another server. */
  forget(): void {
    this.difference = Number.NEGATIVE_INFINITY;
  }

  private differenceAt(moment: number): number {
    return this.difference - Math.max(0, moment - this.sampledAt) * DRIFT;
  }
}
