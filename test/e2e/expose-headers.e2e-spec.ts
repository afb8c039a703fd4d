import {
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  UseGuards,
} from '@nestjs/common';
import { type Decision, MemoryStore, type Outcome, SkipRateLimit } from 'nestjs-doorman';
import { ADAPTERS, byHeader, SlowStore, start, userOf, valuesOf } from './support.js';

const EXPOSE = 'Access-Control-Expose-Headers';
const ORIGIN = { origin: 'https://shop.example' };

/** Says who asks, once the limiter has charged the address. */
const signIn = {
  canActivate: (context: ExecutionContext) => {
    const request = context.switchToHttp().getRequest();
    request.user = userOf(request);
    return true;
  },
};

@Controller()
class Shop {
  @Get('plain')
  plain() {
    return {};
  }

  @SkipRateLimit()
  @Get('free')
  free() {
    return {};
  }

  @UseGuards(signIn)
  @Get('mine')
  mine() {
    return {};
  }
}

class AbsentStore extends SlowStore {
  override async decide(): Promise<readonly Outcome[]> {
    throw new Error('the cable is out');
  }
}

describe.each(ADAPTERS)('exposed headers on %s', (adapter) => {
  const open = (options: object, cors?: Parameters<INestApplication['enableCors']>[0]) =>
    start(adapter, {
      limits: byHeader({ default: 'token-bucket,1,10' }, { exposeHeaders: true, ...options }),
      controllers: [Shop],
      setUp: (app) => {
        if (cors) app.enableCors(cors);
      },
    });
  const exposed = async ({ http }: Awaited<ReturnType<typeof open>>, path = '/plain') =>
    valuesOf(await http.get(path).set(ORIGIN), EXPOSE);

  it('are those that are set, and when to come back', async () => {
    const app = await open({});
    expect(await exposed(app)).toEqual(['RateLimit-Policy, RateLimit, Retry-After']);
    const refused = await app.http.get('/plain').set(ORIGIN);
    expect(refused.status).toBe(429);
    expect(valuesOf(refused, EXPOSE)).toEqual(['RateLimit-Policy, RateLimit, Retry-After']);
  });

  it('are none where the option is not set, is false, or nothing is limited', async () => {
    expect(await exposed(await open({ exposeHeaders: undefined }))).toEqual([]);
    expect(await exposed(await open({ exposeHeaders: false }))).toEqual([]);
    expect(await exposed(await open({}), '/free')).toEqual([]);
  });

  it.each([
    ['legacy', 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'],
    [
      'draft-6',
      'RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After',
    ],
    [false, 'Retry-After'],
    [
      ({ remaining }: Decision) => ({ 'X-Left': String(remaining), 'X-Bad': 5 }),
      'X-Left, Retry-After',
    ],
  ])('are those of the dialect %s', async (headers, names) => {
    expect(await exposed(await open({ headers }))).toEqual([names]);
  });

  it('are those of all dialects, each once', async () => {
    const [names] = await exposed(
      await open({ headers: ['draft-7', 'draft-6', () => ({ A: '1' })] }),
    );
    expect(names?.split(', ').sort()).toEqual([
      'A',
      'RateLimit',
      'RateLimit-Limit',
      'RateLimit-Policy',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
    ]);
  });

  it('join those that CORS exposes, each once', async () => {
    const cors = { origin: ORIGIN.origin, exposedHeaders: ['X-Total', 'retry-after'] };
    const app = await open({}, cors);
    for (const status of [200, 429]) {
      const response = await app.http.get('/plain').set(ORIGIN);
      expect(response.status).toBe(status);
      expect(valuesOf(response, 'Access-Control-Allow-Origin')).toEqual([ORIGIN.origin]);
      const [names = '', ...more] = valuesOf(response, EXPOSE);
      expect(more).toEqual([]);
      expect(names.split(/\s*,\s*/)).toEqual([
        'X-Total',
        'retry-after',
        'RateLimit-Policy',
        'RateLimit',
      ]);
    }
  });

  it('are told where CORS exposes nothing of its own', async () => {
    expect(await exposed(await open({}, { origin: true }))).toEqual([
      'RateLimit-Policy, RateLimit, Retry-After',
    ]);
  });

  it('are the same after the second door', async () => {
    const user = (request: { user?: string }) => request.user;
    const app = await open({ user, rules: { default: 'token-bucket,5,10' } });
    const response = await app.http.get('/mine').set({ ...ORIGIN, 'x-user': 'alice' });
    expect(response.status).toBe(200);
    expect(valuesOf(response, EXPOSE)).toEqual(['RateLimit-Policy, RateLimit, Retry-After']);
  });

  it('are only when to come back where the store cannot be asked', async () => {
    const rules = { default: 'token-bucket,1,10,onStoreError=deny' };
    const app = await open({ rules, store: new AbsentStore(new MemoryStore()) });
    const refused = await app.http.get('/plain').set(ORIGIN);
    expect([refused.status, valuesOf(refused, EXPOSE)]).toEqual([503, ['Retry-After']]);
  });
});
