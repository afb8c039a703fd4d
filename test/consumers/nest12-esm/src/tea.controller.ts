import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

@Controller('teas')
export class TeaController {
  /** Not decorated: the rule book's default applies. */
  @Get()
  list() {
    return ['assam', 'sencha'];
  }

  @RateLimit('fixed-window,2,10')
  @Post('tastings')
  @HttpCode(200)
  taste() {
    return { taste: 'malty' };
  }
}
