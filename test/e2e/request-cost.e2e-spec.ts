import {
  BadRequestException,
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  type NestInterceptor,
  Post,
  Sse,
  StreamableFile,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  type DroppedEvent,
  MemoryStore,
  RateLimit,
  RateLimitGuard,
  SkipRateLimit,
} from 'nestjs-doorman';
import { firstValueFrom, from, map, take } from 'rxjs';
import {
  ADAPTERS,
  byHeader,
  droppedOf,
  faultsOf,
  left,
  type Running,
  SlowStore,
  start,
} from './support.js';

const ALICE = { 'x-user': 'alice' };

interface Asked {
  readonly estimate?: unknown;
  readonly silent?: boolean;
  readonly actual?: unknown;
  readonly fail?: boolean;
}

const bodyOf = (ctx: ExecutionContext): Asked => ctx.switchToHttp().getRequest().body;
const estimate = (ctx: ExecutionContext) => bodyOf(ctx).estimate as number;

let settled: unknown[] = [];

class Wrap implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((wrapped) => ({ wrapped })));
  }
}

@Controller()
class Model {
  @RateLimit('fixed-window,100,10', { settle: (_ctx, answer) => (answer.wrapped ? 50 : 3) })
  @UseInterceptors(Wrap)
  @Get('wrapped')
  wrapped() {
    return {};
  }

  @RateLimit('fixed-window,100,10', {
    cost: estimate,
    settle: (ctx, answer) => {
      settled.push([bodyOf(ctx).estimate, answer]);
      return answer.tokens;
    },
  })
  @Post('ask')
  ask(@Body() body: Asked) {
    if (body.fail) throw new BadRequestException();
    return { tokens: body.actual };
  }

  @RateLimit('fixed-window,100,10', {
    cost: async (ctx) => estimate(ctx),
    settle: async (ctx) => {
      throw bodyOf(ctx).silent ? Object.create(null) : new Error('no bill');
    },
  })
  @Post('later')
  later() {
    return {};
  }

  @UseGuards(RateLimitGuard)
  @RateLimit('fixed-window,100,10', 'fixed-window,50,1m,name=minute', { cost: 7 })
  @Get('seven')
  seven() {
    return {};
  }

  @RateLimit('shared', { settle: (_ctx, answer) => answer.cost })
  @Get('three')
  three() {
    return { cost: 3 };
  }

  @RateLimit('fixed-window,100,10,name=stream', { cost: 10, settle: (_ctx, last) => last.data })
  @Sse('stream')
  stream() {
    return from([{ data: 1 }, { data: 2 }, { data: 4 }]).pipe(take(3));
  }

  @RateLimit('fixed-window,100,10', { settle: (_ctx, file) => file.options.length })
  @Get('file')
  file() {
    return new StreamableFile(Buffer.from('hello'), { length: 5 });
  }

  @RateLimit(
    'fixed-window,100,10,name=bad,count=failures',
    'fixed-window,100,10,name=good,count=successes',
    'fixed-window,100,10,name=every',
    { cost: 10, settle: (ctx, answer) => bodyOf(ctx).actual ?? answer.none },
  )
  @Post('mixed')
  mixed(@Body() body: Asked) {
    if (body.fail) throw new BadRequestException();
    return {};
  }
}

@RateLimit('fixed-window,100,10', { cost: 5, settle: () => 2 })
@Controller('class')
class Whole {
  @Get('one')
  one() {
    return {};
  }

  @RateLimit('fixed-window,100,10', { cost: 9, settle: (_ctx, answer) => settled.push(answer) })
  @Get('again')
  again() {
    return {};
  }

  @RateLimit('fixed-window,100,10')
  @Get('own')
  own() {
    return {};
  }

  @SkipRateLimit()
  @Get('free')
  free() {
    return {};
  }
}

const controllers = [Model, Whole];
const rules = { policy: { shared: 'fixed-window,100,10' } };

describe.each(ADAPTERS)('what a request costs, on %s', (adapter) => {
  beforeEach(() => {
    settled = [];
  });

  const open = (more: object = {}) =>
    start(adapter, { controllers, limits: byHeader(rules, more) });
  const post = ({ http }: Running, path: string, body: Asked) =>
    http.post(path).set(ALICE).send(body);
  const peek = async ({ service }: Running, path: string) => {
    const { remaining, rules: each } = await service.peek('alice', path);
    return each?.map((rule) => rule.remaining) ?? remaining;
  };

  it.each([
    ['at once', () => new MemoryStore()],
    ['by promise', () => new SlowStore(new MemoryStore())],
  ])('is estimated before and settled after, with a store that answers %s', async (_, store) => {
    const running = await open({ store: store() });
    const response = await post(running, '/ask', { estimate: 40, actual: 10 });
    expect([response.status, left(response)]).toEqual([201, 60]);
    expect(await peek(running, '/ask')).toBe(90);
    await post(running, '/ask', { estimate: 20, actual: 25 });
    expect(await peek(running, '/ask')).toBe(65);
    await post(running, '/ask', { estimate: 5 });
    expect(await peek(running, '/ask')).toBe(60);
    expect((await post(running, '/ask', { estimate: 61, actual: 1 })).status).toBe(429);
    expect(await peek(running, '/ask')).toBe(60);
    expect(settled).toEqual([
      [40, { tokens: 10 }],
      [20, { tokens: 25 }],
      [5, {}],
    ]);
  });

  it.each([-1, 1.5, '7', null, undefined, [1]])(
    'of %p is a 500, and takes nothing',
    async (given) => {
      const running = await open();
      for (const path of ['/ask', '/later']) {
        expect((await post(running, path, { estimate: given })).status).toBe(500);
        expect(await peek(running, path)).toBe(100);
      }
      expect(settled).toEqual([]);
    },
  );

  it.each([-1, 1.5, '7', null])(
    'stays as it was estimated where it is settled at %p, with one warning',
    async (actual) => {
      const running = await open();
      for (let i = 0; i < 3; i++) {
        expect((await post(running, '/ask', { estimate: 10, actual })).status).toBe(201);
      }
      expect(await peek(running, '/ask')).toBe(70);
      expect(running.logs.warnings('settle', 'Model.ask')).toHaveLength(1);
    },
  );

  it('stays as it was estimated where settle throws, with one warning', async () => {
    const running = await open();
    for (let i = 0; i < 3; i++) await post(running, '/later', { estimate: 10 });
    expect(await peek(running, '/later')).toBe(70);
    expect(running.logs.warnings('settle', 'Model.later', 'no bill')).toHaveLength(1);
  });

  it('stays so too where settle throws what has no text', async () => {
    const running = await open();
    expect((await post(running, '/later', { estimate: 10, silent: true })).status).toBe(201);
    expect(await peek(running, '/later')).toBe(90);
    expect(running.logs.warnings('settle', 'Model.later')).toHaveLength(1);
  });

  it('stays as it was estimated where the handler throws', async () => {
    const running = await open();
    expect((await post(running, '/ask', { estimate: 10, fail: true })).status).toBe(400);
    expect(await peek(running, '/ask')).toBe(90);
    expect(settled).toEqual([]);
  });

  it('may be a number, is spent by every rule, and once however often the guard runs', async () => {
    const running = await open();
    await running.http.get('/seven').set(ALICE);
    expect(await peek(running, '/seven')).toEqual([93, 43]);
  });

  it('is 1 where only settle is given, for a policy by its name too', async () => {
    const running = await open();
    expect(left(await running.http.get('/three').set(ALICE))).toBe(99);
    expect(await peek(running, '/three')).toBe(97);
  });

  it('is settled of a stream by its last value, and of a file', async () => {
    const running = await open();
    await running.http.get('/stream').set(ALICE);
    expect(await peek(running, '/stream')).toBe(96);
    await running.http.get('/file').set(ALICE);
    expect(await peek(running, '/file')).toBe(95);
  });

  it('is settled by what the handler itself answers, above other interceptors', async () => {
    const running = await open();
    expect((await running.http.get('/wrapped').set(ALICE)).body).toEqual({ wrapped: {} });
    expect(await peek(running, '/wrapped')).toBe(97);
  });

  it('goes with what counts by how a request ended, each counter settled once', async () => {
    const running = await open();
    await post(running, '/mixed', { actual: 4 });
    expect(await peek(running, '/mixed')).toEqual([100, 96, 96]);
    await post(running, '/mixed', { fail: true });
    expect(await peek(running, '/mixed')).toEqual([90, 96, 86]);
    await post(running, '/mixed', {});
    expect(await peek(running, '/mixed')).toEqual([90, 86, 76]);
  });

  it('may stand on a class; the nearest decorator wins with its rules', async () => {
    const running = await open();
    await running.http.get('/class/one').set(ALICE);
    expect(await peek(running, '/class/one')).toBe(98);
    await running.http.get('/class/own').set(ALICE);
    expect(await peek(running, '/class/own')).toBe(99);
    await running.http.get('/class/again').set(ALICE);
    expect(await peek(running, '/class/again')).toBe(99);
    expect(settled).toEqual([{}]); // once, though both have bound it
    expect((await running.http.get('/class/free').set(ALICE)).status).toBe(200);
  });

  it('tells what could not be charged', async () => {
    const running = await open();
    const event = firstValueFrom(droppedOf(running.service)) as Promise<DroppedEvent>;
    await post(running, '/ask', { estimate: 40, actual: 130 });
    expect(await event).toMatchObject({ userId: 'alice', api: '/ask', actual: 130, dropped: 30 });
  });

  it('is asked of nobody where the module is off', async () => {
    const running = await open({ mode: 'off' });
    expect((await post(running, '/ask', { estimate: -1, actual: 3 })).status).toBe(201);
    expect(settled).toEqual([]);
  });
});

describe('a cost in a decorator', () => {
  const withCost = (...given: unknown[]) => {
    @Controller()
    class Faulty {
      @RateLimit(...(given as string[]))
      @Get()
      get() {
        return {};
      }
    }
    return faultsOf({ controllers: [Faulty], limits: {} });
  };

  it.each([
    ['is negative', { cost: -1 }, /cost is a whole number/],
    ['is a fraction', { cost: 1.5 }, /cost is a whole number/],
    ['is text', { cost: '5' }, /cost is a whole number/],
    ['has a settle that is none', { settle: 3 }, /settle is a function/],
    ['has an unknown field', { cost: 1, setle: () => 1 }, /unknown field "setle"/],
  ])('that %s is a fault at start-up', async (_, cost, problem) => {
    const [fault, ...more] = await withCost('fixed-window,5,10', cost);
    expect(fault).toMatchObject({ code: 'OPTION_VALUE', place: '@RateLimit on Faulty.get' });
    expect(fault!.problem).toMatch(problem);
    expect(more).toEqual([]);
  });

  it.each([
    ['without a rule', [{ cost: 5 }]],
    ['before the rules', [{ cost: 5 }, 'fixed-window,5,10']],
    ['within a rule', [{ limit: 5, window: '10s', cost: 5 }]],
    ['twice', ['fixed-window,5,10', { cost: 5 }, { settle: () => 1 }]],
  ])('that stands %s is a fault at start-up', async (_, given) => {
    const faults = await withCost(...given);
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.every(({ place }) => place === '@RateLimit on Faulty.get')).toBe(true);
  });
});
