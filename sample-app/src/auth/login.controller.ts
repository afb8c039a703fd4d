import { Body, Controller, HttpCode, Post, UnauthorizedException } from '@nestjs/common';
import { RateLimit } from 'nestjs-doorman';

interface Credentials {
  readonly name?: string;
  readonly password?: string;
}

@Controller('login')
export class LoginController {
  /** Limited by the rule book: `api./login`. Nobody is signed in yet, so by address. */
  @Post()
  @HttpCode(200)
  login(@Body() { name, password }: Credentials = {}) {
    if (!name || password !== 'secret') throw new UnauthorizedException('Wrong name or password');
    return { token: name };
  }

  /** The second step. Only wrong codes stay counted: who types the right one is never kept out. */
  @RateLimit('fixed-window,5,15m,by=ip,count=failures,name=wrong-codes')
  @Post('code')
  @HttpCode(200)
  code(@Body() { code }: { readonly code?: string } = {}) {
    if (code !== '123456') throw new UnauthorizedException('Wrong code');
    return { confirmed: true };
  }
}
