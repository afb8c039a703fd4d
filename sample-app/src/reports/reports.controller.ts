import { Controller, Get, Header } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

/** A rule for the class: each of its handlers has a counter of its own. */
@RateLimit('sliding-window,2,1m')
@Controller('reports')
export class ReportsController {
  @Get('sales')
  sales() {
    return { total: 0 };
  }

  @Get('stock')
  @Header('Cache-Control', 'private')
  stock() {
    return { items: 0 };
  }

  /** By name: the rule stands in the book under `policy`, where it can be changed. */
  @RateLimit('export')
  @Get('export')
  export() {
    return { rows: [] };
  }
}
