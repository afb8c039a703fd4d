import { Logger } from '@nestjs/common';
import { messageOf } from '../core/fault.js';

/** What is told to whoever runs the application; most of it once, however often it happens. */
export class Warnings {
  private readonly logger = new Logger('RateLimit');
  private readonly told = new Set<string>();

  /** Logs `text` the first time that `topic` comes up. */
  once(topic: string, text: string): void {
    if (this.told.has(topic)) return;
    this.told.add(topic);
    this.logger.warn(text);
  }

  /** Logs `text` each time: for what the caller tells once. */
  warn(text: string): void {
    this.logger.warn(text);
  }

  /** The store cannot be asked: told once a failure, by whoever notices it. */
  storeFailed(name: string, error: unknown): void {
    const said = messageOf(error);
    this.logger.warn(
      `The ${name} store failed, and each rule does as its onStoreError says: ${said}`,
    );
  }

  storeRecovered(name: string): void {
    this.logger.log(`The ${name} store decides again`);
  }

  error(text: string): void {
    this.logger.error(text);
  }

  log(text: string): void {
    this.logger.log(text);
  }
}
