import { Controller, Get } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

@Controller('catalogue')
export class CatalogueController {
  /** For other shops, by API key: no address too fast, and no key too often. */
  @RateLimit('token-bucket,10,1,by=ip & token-bucket,15,1m,by=api-key')
  @Get()
  items() {
    return { items: ['tea', 'cups'] };
  }
}
