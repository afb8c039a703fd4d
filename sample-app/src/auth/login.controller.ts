import { Body, Controller, HttpCode, Post, UnauthorizedException } from '@nestjs/common';

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
}
