import { Controller, Get, Module } from '@nestjs/common';
import { Clock, LimiterFactory, RateLimit, RateLimitService } from 'nestjs-doorman';

/* Compiled to CommonJS: what is imported above is required, and the types of the constructor too. */

@Controller('teas')
export class TeaController {
  constructor(
    readonly clock: Clock,
    readonly factory: LimiterFactory,
    readonly limits: RateLimitService,
  ) {}

  @RateLimit('fixed-window,2,1h,name=required')
  @Get()
  list() {
    return ['assam', 'sencha'];
  }
}

@Module({ controllers: [TeaController] })
export class TeaModule {}

export const required = {
  doorman: require('nestjs-doorman'),
  core: require('nestjs-doorman/core'),
  redis: require('nestjs-doorman/redis'),
  testing: require('nestjs-doorman/testing'),
};
