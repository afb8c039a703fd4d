import { Controller, Get, Query } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

@Controller('search')
export class SearchController {
  /** Two rules that both must allow: short bursts, and a daily quota. A refusal spends neither. */
  @RateLimit('token-bucket,3,1 & fixed-window,1000,1d,name=daily-search,by=user')
  @Get()
  search(@Query('q') query = '') {
    return { query, found: [] };
  }
}
