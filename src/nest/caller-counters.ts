import type { Counter } from '../core/counter-plan.js';
import type { RateLimitStore } from '../core/index.js';
import { blockedUntil } from './blocked-until.js';
import type { CallSubjects } from './call-subjects.js';
import type { Deciding } from './deciding.js';
import type { CallOptions } from './service-options.js';

/** What an operator does to the counters of one caller: those that his ids determine. */
export class CallerCounters {
  constructor(
    private readonly calls: CallSubjects,
    private readonly store: RateLimitStore,
    private readonly deciding: Deciding,
  ) {}

  async reset(userId: string | undefined, api: string, options: CallOptions): Promise<void> {
    const counters = await this.calls.own(userId, api, options);
    await this.store.reset(counters);
    this.deciding.waiting.wake(counters);
  }

  /** @returns false where no rule counts this caller alone */
  async block(
    userId: string | undefined,
    api: string,
    forMillis: number,
    options: CallOptions,
  ): Promise<boolean> {
    const now = this.deciding.clock.nowMillis();
    const counters = await this.calls.own(userId, api, options);
    return this.blockUntil(counters, blockedUntil(now, forMillis), now);
  }

  async unblock(userId: string | undefined, api: string, options: CallOptions): Promise<void> {
    const counters = await this.calls.own(userId, api, options);
    await this.blockUntil(counters, 0, this.deciding.clock.nowMillis());
    this.deciding.waiting.wake(counters);
  }

  private async blockUntil(
    counters: readonly Counter[],
    until: number,
    now: number,
  ): Promise<boolean> {
    if (counters.length > 0) await this.store.block(counters, until, now);
    return counters.length > 0;
  }
}
