import { Controller, Get, Query } from '@nestjs/common';
import { RateLimitService, SkipRateLimit } from 'nestjs-doorman';

/** For the people who run the shop; in a real one behind a guard that lets in nobody else. */
@SkipRateLimit()
@Controller('limits')
export class LimitsController {
  constructor(private readonly limits: RateLimitService) {}

  /** What is limited by what. */
  @Get()
  all() {
    return this.limits.describe();
  }

  /** "Why was I limited?" */
  @Get('why')
  why(@Query('user') user = '', @Query('api') api = '', @Query('ip') ip?: string) {
    return this.limits.explain(user === '' ? undefined : user, api, {
      dimensions: { ...(ip && { ip }) },
    });
  }

  /** How near callers come to each limit. */
  @Get('utilisation')
  utilisation() {
    return this.limits.utilisation();
  }
}
