import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

@Controller('recommendations')
export class RecommendationsController {
  /** The rule stands in the book: in shadow mode until it is known to be right. */
  @RateLimit('recommendations')
  @Get()
  recommendations() {
    return { items: ['tea'] };
  }
}
