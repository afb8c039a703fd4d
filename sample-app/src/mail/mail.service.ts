import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RateLimitService } from 'nestjs-doorman';

/** Sends mail through a provider that takes two a second: the queue waits for its turn. */
@Injectable()
export class MailService implements OnModuleDestroy {
  private readonly leaving = new AbortController();
  readonly sent: string[] = [];
  readonly failed: string[] = [];

  constructor(private readonly limits: RateLimitService) {}

  /** Returns at once; the mails go out one after another. */
  enqueue(recipients: readonly string[]): void {
    for (const to of recipients) void this.send(to);
  }

  onModuleDestroy(): void {
    this.leaving.abort();
  }

  private async send(to: string): Promise<void> {
    const { signal } = this.leaving;
    const policy = 'token-bucket,2,1';
    try {
      const turn = await this.limits.acquire('mail-provider', 'mail', { policy, signal });
      (turn.allowed ? this.sent : this.failed).push(to);
    } catch {
      this.failed.push(to);
    }
  }
}
