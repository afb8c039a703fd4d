import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  type HttpException,
} from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import {
  type Decision,
  MemoryStore,
  type Outcome,
  RateLimit,
  RateLimitExceededException,
  type StoreEntry,
} from 'nestjs-doorman';
import type { Response } from 'supertest';
import { ADAPTERS, byHeader, SlowStore, start, valuesOf } from './support.js';

const RULES = { default: 'token-bucket,1,10' };

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @RateLimit('token-bucket,1,10,name=burst', 'fixed-window,1,1h,name=hourly')
  @Get('joined')
  joined() {
    return {};
  }
}

/** A store that is out of reach. */
class AbsentStore extends SlowStore {
  override async decide(): Promise<readonly Outcome[]> {
    throw new Error('the cable is out');
  }
}

/** Of a cost that never fits. */
class NeverStore extends SlowStore {
  override decide(entries: readonly StoreEntry[], now: number) {
    return super.decide(
      entries.map((entry) => ({ ...entry, cost: 9 })),
      now,
    );
  }
}

/** The media type, without what frameworks add to it. */
const typeOf = (response: Response) => response.headers['content-type']?.split(';')[0];

describe.each(ADAPTERS)('the body of a refusal on %s', (adapter) => {
  const open = (refusal: unknown, more: object = {}, setUp = {}) =>
    start(adapter, {
      limits: byHeader(RULES, { ...(refusal !== undefined && { refusal }), ...more } as object),
      controllers: [Shop],
      ...setUp,
    });
  const ask = async (
    { http }: Awaited<ReturnType<typeof open>>,
    path = '/plain',
    method: 'get' | 'head' = 'get',
  ) => {
    await http[method](path);
    return http[method](path);
  };
  const USUAL = {
    statusCode: 429,
    error: 'Too Many Requests',
    message: 'Too many requests, try again in 10 s',
    policy: 'default',
    retryAfterMillis: 10_000,
  };
  const PROBLEM = {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    status: 429,
    detail: 'Too many requests, try again in 10 s',
    'violated-policies': ['default'],
    retryAfterMillis: 10_000,
  };

  it.each([undefined, 'json'])('is JSON of our own for %j', async (refusal) => {
    const refused = await ask(await open(refusal));
    expect(refused.status).toBe(429);
    expect(typeOf(refused)).toBe('application/json');
    expect(refused.body).toEqual(USUAL);
  });

  it('is a problem for "problem", which says so', async () => {
    const app = await open('problem');
    expect(typeOf(await app.http.get('/plain'))).toBe('application/json');
    const refused = await app.http.get('/plain');
    expect(refused.status).toBe(429);
    expect(valuesOf(refused, 'Content-Type')).toHaveLength(1);
    expect(typeOf(refused)).toBe('application/problem+json');
    expect(JSON.parse(refused.text)).toEqual(PROBLEM);
    expect(valuesOf(refused, 'Retry-After')).toEqual(['10']);
    expect(valuesOf(refused, 'Cache-Control')).toEqual(['no-store']);
  });

  it('names as a problem all rules that refuse, as the headers name them', async () => {
    const refused = await ask(await open('problem'), '/joined');
    expect(JSON.parse(refused.text)['violated-policies']).toEqual(['burst', 'hourly']);
    expect(refused.headers['ratelimit']).toMatch(/^"burst";r=0;t=\d+, "hourly";r=0/);
  });

  it('is a problem that names no time where none helps', async () => {
    const refused = await ask(await open('problem', { store: new NeverStore(new MemoryStore()) }));
    expect(refused.status).toBe(429);
    expect(typeOf(refused)).toBe('application/problem+json');
    expect(JSON.parse(refused.text)).toEqual({
      ...PROBLEM,
      detail: 'This request costs more than its limit ever allows',
      retryAfterMillis: undefined,
    });
    expect(refused.text).not.toMatch(/retry|null|Infinity/);
    expect(valuesOf(refused, 'Retry-After')).toEqual([]);
  });

  it('is a problem of no type of its own where the store cannot be asked', async () => {
    const rules = { default: 'token-bucket,1,10,onStoreError=deny' };
    const app = await open('problem', { rules, store: new AbsentStore(new MemoryStore()) });
    const refused = await app.http.get('/plain');
    expect(refused.status).toBe(503);
    expect(typeOf(refused)).toBe('application/problem+json');
    expect(JSON.parse(refused.text)).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: 'The limit cannot be checked, try again in 1 s',
      retryAfterMillis: 1000,
    });
    expect(valuesOf(refused, 'Retry-After')).toEqual(['1']);
    expect(valuesOf(refused, 'RateLimit')).toEqual([]);
  });

  it('is announced to who asks for the head alone', async () => {
    const refused = await ask(await open('problem'), '/plain', 'head');
    expect(refused.status).toBe(429);
    expect(typeOf(refused)).toBe('application/problem+json');
  });

  it('is what a function of the decision answers', async () => {
    const decisions: Decision[] = [];
    const app = await open((decision: Decision) => {
      decisions.push(decision);
      return { code: 'SLOW_DOWN', after: decision.retryAfterMillis };
    });
    const refused = await ask(app);
    expect(decisions).toHaveLength(1);
    expect(refused.status).toBe(429);
    expect(typeOf(refused)).toBe('application/json');
    expect(refused.body).toEqual({ code: 'SLOW_DOWN', after: 10_000 });
    expect(valuesOf(refused, 'Retry-After')).toEqual(['10']);
    expect(app.logs.ofLimiter('warn')).toEqual([]);
  });

  it('is by a function that looks at the request', async () => {
    const app = await open((_decision: Decision, ctx: ExecutionContext) => ({
      path: ctx.switchToHttp().getRequest().url,
      handler: ctx.getHandler().name,
    }));
    expect((await ask(app)).body).toEqual({ path: '/plain', handler: 'plain' });
    expect(app.logs.ofLimiter('warn')).toEqual([]);
  });

  it('has the text that a function answers as its message', async () => {
    const refused = await ask(await open(() => 'помедленнее'));
    expect(refused.status).toBe(429);
    expect(typeOf(refused)).toBe('application/json');
    expect(refused.body).toEqual({ statusCode: 429, message: 'помедленнее' });
  });

  it('is what a function answers also where the store cannot be asked, as a 503', async () => {
    const rules = { default: 'token-bucket,1,10,onStoreError=deny' };
    const store = new AbsentStore(new MemoryStore());
    const app = await open(({ reason }: Decision) => ({ reason }), { rules, store });
    const refused = await app.http.get('/plain');
    expect([refused.status, refused.body]).toEqual([503, { reason: 'store' }]);
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  it.each([
    ['throws', () => JSON.parse('{')],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers a number', () => 429],
    ['answers an error', () => new Error('slow down')],
    ['answers a function', () => () => ({})],
    ['answers a promise', async () => ({})],
    ['answers a promise that fails', async () => JSON.parse('{')],
    ['answers a circle', () => circular],
    ['answers what JSON does not know', () => ({ left: 5n })],
    ['answers what is nothing in JSON', () => ({ toJSON: () => undefined })],
  ])('is the usual one where a function %s, with one warning', async (_, refusal) => {
    const app = await open(refusal);
    for (const refused of [await ask(app), await ask(app)]) {
      expect(refused.status).toBe(429);
      expect(refused.body).toEqual(USUAL);
      expect(valuesOf(refused, 'Retry-After')).toEqual(['10']);
    }
    expect(app.logs.warnings('option refusal', 'usual body')).toHaveLength(1);
    expect(app.logs.ofLimiter('warn')).toHaveLength(1);
  });

  it('is in the exception, for a filter of the application that has the last word', async () => {
    const seen: unknown[] = [];
    @Catch(RateLimitExceededException)
    class OwnFilter implements ExceptionFilter {
      catch(exception: RateLimitExceededException, host: ArgumentsHost) {
        seen.push(exception.getResponse(), exception.message);
        seen.push(exception.policy, exception.retryAfterMillis);
        const response = host.switchToHttp().getResponse();
        response.status(418).header('Content-Type', 'text/plain; charset=utf-8').send('slowly');
      }
    }
    const setUp = {
      setUp: (app: { useGlobalFilters(one: unknown): void }) =>
        app.useGlobalFilters(new OwnFilter()),
    };
    const refused = await ask(await open('problem', {}, setUp));
    expect(refused.status).toBe(418);
    expect(valuesOf(refused, 'Content-Type')).toEqual(['text/plain; charset=utf-8']);
    expect(refused.text).toBe('slowly');
    expect(seen).toEqual([PROBLEM, PROBLEM.detail, 'default', 10_000]);
  });

  it('goes out as a problem by a filter that extends the one of Nest', async () => {
    @Catch()
    class Noting extends BaseExceptionFilter {
      readonly seen: number[] = [];

      override catch(exception: HttpException, host: ArgumentsHost) {
        this.seen.push(exception.getStatus());
        super.catch(exception, host);
      }
    }
    let noting: Noting | undefined;
    const refused = await ask(
      await open(
        'problem',
        {},
        {
          setUp: (app: {
            useGlobalFilters(one: unknown): void;
            getHttpAdapter(): ConstructorParameters<typeof BaseExceptionFilter>[0];
          }) => {
            noting = new Noting(app.getHttpAdapter());
            app.useGlobalFilters(noting);
          },
        },
      ),
    );
    expect(noting?.seen).toEqual([429]);
    expect(typeOf(refused)).toBe('application/problem+json');
    expect(JSON.parse(refused.text)).toEqual(PROBLEM);
  });
});
