import { Controller, Get } from '@nestjs/common';
import { SkipRateLimit } from 'nestjs-doorman';

/** Probes come often and from one address: they are not counted. */
@SkipRateLimit()
@Controller('health')
export class HealthController {
  @Get()
  health() {
    return { status: 'ok' };
  }
}
