/** Who hears how the look-ups of tiers fare: once for each change, not for each call. */
export interface TiersListener {
  /** Must not throw. */
  failed(userId: string, error: unknown): void;
  /** Must not throw. */
  recovered(): void;
}

/**
 * Whether look-ups fail at present. They are well again when the user who failed last is answered,
 * or anybody once nobody has failed for a while: where some users fail and others do not, each
 * call would else be news.
 */
export class TierHealth {
  private lastFailure: { readonly userId: string; readonly atMillis: number } | undefined;

  constructor(
    private readonly tell: TiersListener,
    private readonly calmMillis: number,
  ) {}

  failed(userId: string, error: unknown, now: number): void {
    const isNews = this.lastFailure === undefined;
    this.lastFailure = { userId, atMillis: now };
    if (isNews) this.tell.failed(userId, error);
  }

  succeeded(userId: string, now: number): void {
    const failure = this.lastFailure;
    if (!failure) return;
    if (failure.userId !== userId && now - failure.atMillis < this.calmMillis) return;
    this.lastFailure = undefined;
    this.tell.recovered();
  }
}
