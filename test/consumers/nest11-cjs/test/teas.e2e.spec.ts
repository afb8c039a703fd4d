import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Clock, RateLimitService } from 'nestjs-doorman';
import { LimiterFactory, MemoryStore } from 'nestjs-doorman/core';
import { FakeClock } from 'nestjs-doorman/testing';
import request from 'supertest';
import { AppModule } from '../src/app.module';

describe('the teas', () => {
  let app: INestApplication;
  let clock: FakeClock;

  beforeEach(async () => {
    clock = new FakeClock();
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    app = module.createNestApplication({ logger: ['error', 'warn'] });
    await app.init();
  });

  afterEach(() => app.close());

  const list = () => request(app.getHttpServer()).get('/teas');
  const taste = () => request(app.getHttpServer()).post('/teas/tastings');

  it('refuses the sixth and says 2 s', async () => {
    const first = await list().expect(200, ['assam', 'sencha']);
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"default";q=5;w=10',
      ratelimit: '"default";r=4;t=2',
    });
    for (let i = 2; i <= 5; i++) await list().expect(200);

    const sixth = await list().expect(429);
    expect(sixth.headers).toMatchObject({
      'retry-after': '2',
      'ratelimit-policy': '"default";q=5;w=10',
      ratelimit: '"default";r=0;t=2',
    });

    clock.advance(1999);
    await list().expect(429);
    clock.advance(1);
    await list().expect(200);
  });

  it('limits the decorated handler by its own rule', async () => {
    await taste().expect(200);
    await taste().expect(200);
    await taste().expect(429);
    await list().expect(200);
  });

  it('hands out the service and the factory', async () => {
    const decision = await app.get(RateLimitService).check('alice', '/anything');
    expect(decision.remaining).toBe(4);
    expect(app.get(LimiterFactory).create('fixed-window,1,1s').tryAcquire().allowed).toBe(true);
  });

  it('limits without Nest', () => {
    const logins = new LimiterFactory(clock, new MemoryStore()).createKeyed('fixed-window,2,10');
    const allowed = () => logins.tryAcquire('alice').allowed;
    expect([allowed(), allowed(), allowed()]).toEqual([true, true, false]);
    clock.advance(10_000);
    expect(allowed()).toBe(true);
  });
});
