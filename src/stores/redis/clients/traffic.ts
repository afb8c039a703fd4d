import { PATIENCE_MILLIS } from './link.js';

/** The commands that go over one link: whether any is under way, and whether the server is silent. */
export class Traffic {
  private written = 0;
  private answered = 0;
  private ended = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param onSilence called when commands are under way and for a while nothing was answered */
  constructor(private readonly onSilence: () => void = () => {}) {}

  get idle(): boolean {
    return this.answered === this.written;
  }

  begin(): void {
    this.written++;
    if (this.timer === undefined) this.watch();
  }

  done(): void {
    this.answered++;
  }

  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  /** Looks again later whether anything was answered: one timer, however many commands. */
  private watch(): void {
    const { answered } = this;
    const look = () => {
      this.timer = undefined;
      if (this.ended || this.idle) return;
      if (this.answered === answered) this.onSilence();
      else this.watch();
    };
    // After a turn of I/O: when this process stood still itself, the replies wait to be read.
    this.timer = setTimeout(() => setImmediate(look), PATIENCE_MILLIS);
  }
}
