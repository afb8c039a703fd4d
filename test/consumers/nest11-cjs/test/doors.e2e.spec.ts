import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
  Module,
  type ModuleMetadata,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitModule } from 'nestjs-doorman';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';

/** Who asks is known only after a guard of the application: `Bearer alice`. */
@Injectable()
class JwtGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const id = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (id === undefined) throw new UnauthorizedException();
    request.user = { id };
    return true;
  }
}

@Controller('teas')
class Teas {
  @Get()
  list() {
    return [];
  }
}

@UseGuards(JwtGuard)
@Controller('teas')
class GuardedClass {
  @Get()
  list() {
    return [];
  }
}

@Controller('teas')
class GuardedMethod {
  @UseGuards(JwtGuard)
  @Get()
  list() {
    return [];
  }
}

@Module({ providers: [{ provide: APP_GUARD, useClass: JwtGuard }] })
class AuthModule {}

const limits = () =>
  RateLimitModule.forRoot({
    rules: { default: 'fixed-window,2,10', user: { vip: 'fixed-window,4,10' } },
  });

const POSITIONS: [string, () => ModuleMetadata, ((app: INestApplication) => void)?][] = [
  ['on the class', () => ({ imports: [limits()], controllers: [GuardedClass] })],
  ['on the method', () => ({ imports: [limits()], controllers: [GuardedMethod] })],
  [
    'as APP_GUARD of a module before',
    () => ({ imports: [AuthModule, limits()], controllers: [Teas] }),
  ],
  [
    'as APP_GUARD of a module after',
    () => ({ imports: [limits(), AuthModule], controllers: [Teas] }),
  ],
  [
    'by useGlobalGuards',
    () => ({ imports: [limits()], controllers: [Teas] }),
    (app) => app.useGlobalGuards(new JwtGuard()),
  ],
];

describe.each(POSITIONS)('a guard %s', (_, metadata, setUp) => {
  let app: INestApplication;

  beforeEach(async () => {
    const module = await Test.createTestingModule(metadata())
      .overrideProvider(Clock)
      .useValue(new FakeClock())
      .compile();
    app = module.createNestApplication({ logger: ['error', 'warn'] });
    setUp?.(app);
    await app.init();
  });

  afterEach(() => app.close());

  /** The status of each of several requests. */
  async function ask(times: number, id?: string): Promise<number[]> {
    const seen: number[] = [];
    for (let i = 0; i < times; i++) {
      const asked = request(app.getHttpServer()).get('/teas');
      if (id !== undefined) asked.set('authorization', `Bearer ${id}`);
      seen.push((await asked).status);
    }
    return seen;
  }

  it('gives a user his own rule', async () => {
    expect(await ask(5, 'vip')).toEqual([200, 200, 200, 200, 429]);
  });

  it('counts two users behind one address apart', async () => {
    expect(await ask(3, 'alice')).toEqual([200, 200, 429]);
    expect(await ask(3, 'bob')).toEqual([200, 200, 429]);
  });

  it('limits a flood of requests without a token by address', async () => {
    expect(await ask(4)).toEqual([401, 401, 429, 429]);
  });
});
