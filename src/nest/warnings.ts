import { Logger } from '@nestjs/common';

/** What is told once, however often it happens. */
export class Warnings {
  private readonly logger = new Logger('RateLimit');
  private readonly told = new Set<string>();

  /** Logs `text` the first time that `topic` comes up. */
  once(topic: string, text: string): void {
    if (this.told.has(topic)) return;
    this.told.add(topic);
    this.logger.warn(text);
  }

  log(text: string): void {
    this.logger.log(text);
  }
}
