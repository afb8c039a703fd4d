import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Inject,
  Injectable,
  Scope,
  Sse,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, ApplicationConfig, REQUEST } from '@nestjs/core';
import {
  type DecisionEvent,
  MemoryStore,
  RateLimit,
  type RateLimitEvent,
  RateLimitGuard,
  type RateLimitStore,
  SkipRateLimit,
  type StoreEntry,
} from 'nestjs-doorman';
import { of } from 'rxjs';
import { turn } from '../core/waiting.js';
import {
  ADAPTERS,
  type AppParts,
  left,
  type Running,
  SlowStore,
  start,
  statuses,
} from '../e2e/support.js';
import { until } from '../support/until.js';

const HERE = { dimensions: { ip: '127.0.0.1' } };
const bearer = (id: string) => ({ authorization: `Bearer ${id}` });
const ALICE = bearer('acme.alice');
const BOB = bearer('acme.bob');
const CAROL = bearer('other.carol');
const BAD = bearer('bad');
const TWO = { default: 'fixed-window,2,10' };

const requestOf = (ctx: ExecutionContext) => ctx.switchToHttp().getRequest();

/** What happens while the guard looks at a token. */
let between: (id: string) => void | Promise<void> = () => undefined;
afterEach(() => {
  between = () => undefined;
});

/** Nobody without a token; `bad` is 401. */
function signIn(request: ReturnType<typeof requestOf>): string | undefined {
  const id = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (id === 'bad') throw new UnauthorizedException();
  if (id !== undefined) request.user = { id, tenant: id.split('.')[0] };
  return id;
}

@Injectable()
class JwtGuard implements CanActivate {
  async canActivate(ctx: ExecutionContext): Promise<boolean> {
    const id = signIn(requestOf(ctx));
    if (id === undefined) throw new UnauthorizedException();
    await between(id);
    return true;
  }
}

/** Lets in also those without a token. */
const optionalGuard: CanActivate = {
  canActivate: (ctx) => signIn(requestOf(ctx)) !== '',
};

@Injectable()
class RolesGuard implements CanActivate {
  canActivate(ctx: ExecutionContext): boolean {
    if (requestOf(ctx).user?.tenant !== 'acme') throw new ForbiddenException();
    return true;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedGuard implements CanActivate {
  constructor(@Inject(REQUEST) private readonly request: never) {}

  canActivate(): boolean {
    if (signIn(this.request) === undefined) throw new UnauthorizedException();
    return true;
  }
}

@UseGuards(JwtGuard)
@Controller()
class Guarded {
  @Get('things')
  things() {
    return {};
  }

  @Sse('stream')
  stream() {
    return of({ data: 1 });
  }
}

@Controller()
class Bare {
  @Get('things')
  things() {
    return {};
  }
}

@UseGuards(optionalGuard)
@Controller()
class Optional {
  @Get('things')
  things() {
    return {};
  }
}

const sequence = (...parts: [number, number][]) =>
  parts.flatMap(([times, status]) => Array<number>(times).fill(status));
const config = ({ app }: Running) => app.get(ApplicationConfig);
const hasDoor = (app: Running) => config(app).getGlobalInterceptors().length === 1;

async function remaining({ service }: Running, user?: string, api = '/things'): Promise<number> {
  return (await service.peek(user, api, HERE)).remaining;
}

/** Fails while it is told to. */
class Shaky extends SlowStore {
  failing = false;

  override async decide(entries: readonly StoreEntry[], now: number) {
    if (this.failing) throw new Error('gone');
    return super.decide(entries, now);
  }

  override async settle(...args: Parameters<RateLimitStore['settle']>): Promise<number> {
    if (this.failing) throw new Error('gone');
    return super.settle(...args);
  }
}

describe.each(ADAPTERS)('what decorators say, and guards, on %s', (adapter) => {
  @Controller()
  class Decorated {
    @UseGuards(JwtGuard)
    @RateLimit('fixed-window,2,10')
    @Get('above')
    above() {
      return {};
    }

    @RateLimit('fixed-window,2,10')
    @UseGuards(JwtGuard)
    @Get('below')
    below() {
      return {};
    }
  }

  @UseGuards(JwtGuard)
  @RateLimit('fixed-window,2,10')
  @Controller('class')
  class DecoratedClass {
    @Get('things')
    things() {
      return {};
    }

    @RateLimit('fixed-window,3,10')
    @Get('own')
    own() {
      return {};
    }
  }

  const paths = ['/above', '/below', '/class/things'];

  it.each(paths)('counts by user at %s, with the guard of the module', async (path) => {
    const app = await start(adapter, { limits: {}, controllers: [Decorated, DecoratedClass] });
    expect(await statuses(app, 3, path, ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, path, BOB)).toEqual([200, 200, 429]);
    expect(await remaining(app, undefined, path)).toBe(2);
    expect(await statuses(app, 3, path, BAD)).toEqual([401, 401, 429]);
  });

  it.each([
    ['/above', [401, 401, 429]],
    ['/below', [401, 401, 401]],
    ['/class/things', [401, 401, 429]],
  ])('counts by user at %s, without', async (path, flooded) => {
    const controllers = [Decorated, DecoratedClass];
    const app = await start(adapter, { limits: { guard: false }, controllers });
    expect(await statuses(app, 3, path, ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, path, BOB)).toEqual([200, 200, 429]);
    expect(await remaining(app, undefined, path)).toBe(2);
    expect(await statuses(app, 3, path, BAD)).toEqual(flooded);
    const own = await app.http.get('/class/own').set(ALICE);
    expect([own.status, left(own)]).toEqual([200, 2]);
  });

  it('has no second door where every guard stands before the decorator', async () => {
    @Controller()
    class Below {
      @RateLimit('fixed-window,2,10')
      @UseGuards(JwtGuard)
      @Get('below')
      below() {
        return {};
      }
    }
    const app = await start(adapter, { limits: { guard: false }, controllers: [Below] });
    expect(hasDoor(app)).toBe(false);
    expect(await statuses(app, 3, '/below', ALICE)).toEqual([200, 200, 429]);
  });

  it('lets through what is skipped, but for the last word of the operator', async () => {
    @SkipRateLimit()
    @UseGuards(JwtGuard)
    @Controller()
    class Skipped {
      @Get('things')
      things() {
        return {};
      }
    }
    const user = { 'acme.bob': 'fixed-window,1,10', 'other.carol': 'fixed-window,1,10,final=true' };
    const app = await start(adapter, {
      limits: { rules: { ...TWO, user, always: { flood: 'fixed-window,1,10,by=ip' } } },
      controllers: [Skipped],
    });
    expect(await statuses(app, 4, '/things', ALICE)).toEqual(sequence([4, 200]));
    expect(await statuses(app, 4, '/things', BOB)).toEqual(sequence([4, 200]));
    expect(await statuses(app, 4, '/things', BAD)).toEqual(sequence([4, 401]));
    expect(await statuses(app, 2, '/things', CAROL)).toEqual([200, 429]);
  });

  it('skips at both doors what the option skips', async () => {
    const skip = (ctx: ExecutionContext) => requestOf(ctx).headers['x-probe'] !== undefined;
    const app = await start(adapter, { limits: { rules: TWO, skip }, controllers: [Guarded] });
    const probe = { ...ALICE, 'x-probe': '1' };
    expect(await statuses(app, 5, '/things', probe)).toEqual(sequence([5, 200]));
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
  });

  it('refuses a stream before it begins', async () => {
    const app = await start(adapter, { limits: { rules: TWO }, controllers: [Guarded] });
    expect(await statuses(app, 3, '/stream', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 1, '/stream', BOB)).toEqual([200]);
  });
});

describe.each(ADAPTERS)('guards of other kinds on %s', (adapter) => {
  const open = (parts: AppParts, more: object = {}) =>
    start(adapter, { limits: { rules: TWO, ...more }, ...parts });

  async function expectByUser(app: Running): Promise<void> {
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/things', BOB)).toEqual([200, 200, 429]);
    expect(await remaining(app)).toBe(2);
    expect(await statuses(app, 3, '/things', BAD)).toEqual([401, 401, 429]);
    expect(app.logs.warnings()).toEqual([]);
  }

  it('counts by user after a guard that is made for each request', async () => {
    @UseGuards(ScopedGuard)
    @Controller()
    class Scoped {
      @Get('things')
      things() {
        return {};
      }
    }
    await expectByUser(await open({ controllers: [Scoped] }));
  });

  it('counts by user after a global guard that is made for each request', async () => {
    const providers = [{ provide: APP_GUARD, useClass: ScopedGuard }];
    await expectByUser(await open({ controllers: [Bare], providers }));
  });

  it('counts by user after a guard of a controller that is made for each request', async () => {
    @UseGuards(JwtGuard)
    @Controller({ scope: Scope.REQUEST })
    class Scoped {
      constructor(@Inject(REQUEST) readonly request: unknown) {}

      @Get('things')
      things() {
        return {};
      }
    }
    await expectByUser(await open({ controllers: [Scoped] }));
  });

  it('counts by user after several guards, and by address what any of them refuses', async () => {
    const providers = [
      { provide: APP_GUARD, useClass: JwtGuard },
      { provide: APP_GUARD, useClass: RolesGuard },
    ];
    const app = await open({ controllers: [Bare], providers });
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
    expect(await remaining(app)).toBe(2);
    expect(await statuses(app, 3, '/things', CAROL)).toEqual([403, 403, 429]);
    expect(await remaining(app, 'other.carol')).toBe(2);
  });

  it('counts by user also where the guard of the module is bound once more after them', async () => {
    @UseGuards(JwtGuard, RateLimitGuard)
    @Controller()
    class Twice {
      @Get('things')
      things() {
        return {};
      }
    }
    await expectByUser(await open({ controllers: [Twice] }));
  });

  it('counts by user where a guard is an object', async () => {
    const app = await open({ controllers: [Optional] });
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 2, '/things', BOB)).toEqual([200, 200]);
    expect(await remaining(app)).toBe(2);
  });

  it('counts once by address who is unknown at both doors', async () => {
    const app = await open({ controllers: [Optional] });
    const answer = await app.http.get('/things');
    expect(answer.headers).toMatchObject({
      'ratelimit-policy': '"default";q=2;w=10',
      ratelimit: '"default";r=1;t=5',
    });
    expect(await statuses(app, 2, '/things')).toEqual([200, 429]);
    expect(await statuses(app, 1, '/things', ALICE)).toEqual([429]);
  });

  it('counts by address what a guard fails at', async () => {
    between = () => {
      throw new Error('no such key');
    };
    const app = await open({ controllers: [Guarded] });
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([500, 500, 429]);
    expect(await remaining(app, 'acme.alice')).toBe(2);
  });

  it('counts a guard that fails neither as a failure nor as a success', async () => {
    between = () => {
      throw new Error('no such key');
    };
    for (const count of ['failures', 'successes']) {
      const rules = { default: `fixed-window,2,10,count=${count}` };
      const app = await open({ controllers: [Guarded] }, { rules });
      expect(await statuses(app, 4, '/things', ALICE)).toEqual(sequence([4, 500]));
      expect(await remaining(app)).toBe(2);
    }
  });

  it('tells callers apart by guards of one of two classes that share a handler', async () => {
    class Base {
      @Get('things')
      things() {
        return {};
      }
    }
    @UseGuards(JwtGuard)
    @Controller('in')
    class Inside extends Base {}
    @Controller('out')
    class Outside extends Base {}
    const app = await open({ controllers: [Inside, Outside] });
    expect(await statuses(app, 3, '/in/things', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/in/things', BOB)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/out/things')).toEqual([200, 200, 429]);
  });

  it('limits a user who has no address', async () => {
    const app = await open({ controllers: [Guarded] });
    const asUser = () => statusOverUnixSocket(app, '/things', ALICE);
    expect([await asUser(), await asUser(), await asUser()]).toEqual([200, 200, 429]);
  });
});

/** Through a Unix socket, which has no address. */
async function statusOverUnixSocket({ app }: Running, path: string, headers: object) {
  const folder = mkdtempSync(join(tmpdir(), 'doorman-'));
  const socketPath = join(folder, 'socket');
  const server = app.getHttpServer();
  const gate = createServer((socket) => server.emit('connection', socket)).listen(socketPath);
  await once(gate, 'listening');
  const options = { socketPath, path, agent: false as const, headers: { ...headers } };
  const [answer] = await once(get(options), 'response');
  answer.resume();
  gate.close();
  rmSync(folder, { recursive: true });
  return answer.statusCode;
}

describe.each(ADAPTERS)('dimensions that a guard makes known, on %s', (adapter) => {
  const rules = { default: 'fixed-window,2,10,by=tenant+api' };

  it.each([
    ['at once', (ctx: ExecutionContext) => requestOf(ctx).user?.tenant],
    ['later', async (ctx: ExecutionContext) => requestOf(ctx).user?.tenant],
  ])('are asked for after it, and answered %s', async (_, tenant) => {
    const app = await start(adapter, {
      limits: { rules, dimensions: { tenant } },
      controllers: [Guarded],
    });
    expect(hasDoor(app)).toBe(true);
    expect(await statuses(app, 1, '/things', ALICE)).toEqual([200]);
    expect(await statuses(app, 2, '/things', BOB)).toEqual([200, 429]);
    expect(await statuses(app, 2, '/things', CAROL)).toEqual([200, 200]);
    expect(await remaining(app)).toBe(2);
    expect(await statuses(app, 3, '/things', BAD)).toEqual([401, 401, 429]);
    expect(app.logs.warnings()).toEqual([]);
  });

  it('are not needed for what the guard decided by address, which stays charged', async () => {
    const own = { default: 'fixed-window,3,10,by=ip', user: { 'acme.alice': 'fixed-window,9,10' } };
    const app = await start(adapter, { limits: { rules: own }, controllers: [Guarded] });
    const answer = await app.http.get('/things').set(ALICE);
    expect(answer.headers['ratelimit']).toMatch(/^"[^"]+";r=8;t=5$/);
    expect(await remaining(app)).toBe(2);
    expect(await statuses(app, 3, '/things', BOB)).toEqual([200, 200, 429]);
  });

  it('may fail before it', async () => {
    const tenant = (ctx: ExecutionContext) => requestOf(ctx).user.tenant;
    const app = await start(adapter, {
      limits: { rules, dimensions: { tenant } },
      controllers: [Guarded],
    });
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 1, '/things', CAROL)).toEqual([200]);
    expect(await remaining(app)).toBe(2);
  });

  it('are told apart from the user', async () => {
    const own = 'fixed-window,2,10,by=user & fixed-window,3,10,by=tenant';
    const app = await start(adapter, {
      limits: {
        rules: { default: own },
        dimensions: { tenant: (ctx: ExecutionContext) => requestOf(ctx).user?.tenant },
        user: (request: { headers: Record<string, string> }) => request.headers['x-user'],
      },
      controllers: [Guarded],
    });
    const known = { ...ALICE, 'x-user': 'alice' };
    expect(await statuses(app, 3, '/things', known)).toEqual([200, 200, 429]);
    const { rules: told } = await app.service.peek(undefined, '/things', HERE);
    expect(told?.map((rule) => rule.remaining)).toEqual([2, 3]);
    expect(await statuses(app, 2, '/things', { ...BOB, 'x-user': 'bob' })).toEqual([200, 429]);
  });
});

describe.each(ADAPTERS)('many at once on %s', (adapter) => {
  it.each([
    ['at once', () => new MemoryStore()],
    ['later', () => new SlowStore(new MemoryStore())],
  ])('end with no counter wrong, where the store answers %s', async (_, store) => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    between = async () => {
      for (let i = Math.floor(random() * 5); i > 0; i--) await turn();
    };
    const rules = {
      default: 'fixed-window,25,10',
      user: { 'acme.alice': 'sliding-window,9,10', 'acme.bob': 'token-bucket,7,10' },
      always: { flood: 'fixed-window,1000,10,by=ip' },
    };
    const app = await start(adapter, {
      limits: { rules, store: store() },
      controllers: [Guarded],
    });
    const allowed: Record<string, number> = { alice: 0, bob: 0, carol: 0, bad: 0 };
    const seen: number[] = [];
    const ask = async (name: string, headers: Record<string, string>) => {
      const { status } = await app.http.get('/things').set(headers);
      seen.push(status);
      if (status === 200) allowed[name]!++;
    };
    const callers = { alice: ALICE, bob: BOB, carol: CAROL, bad: BAD };
    const names = Object.keys(callers) as (keyof typeof callers)[];
    const all = Array.from({ length: 60 }, () => names[Math.floor(random() * 4)]!);
    await Promise.all(all.map((name) => ask(name, callers[name])));
    await turn();
    const refused = seen.filter((status) => status === 429).length;
    expect(seen.length).toBe(60);
    expect(refused).toBeGreaterThan(0);
    const unauthorized = seen.filter((status) => status === 401).length;
    const rest = async (user: string | undefined) => {
      const { rules: told } = await app.service.peek(user, '/things', HERE);
      return told!.map(({ remaining: r }) => r).sort((a, b) => a - b);
    };
    const spent = 1000 - allowed['alice']! - allowed['bob']! - allowed['carol']! - unauthorized;
    expect(await rest('acme.alice')).toEqual([9 - allowed['alice']!, spent]);
    expect(await rest('acme.bob')).toEqual([7 - allowed['bob']!, spent]);
    expect(await rest('other.carol')).toEqual([25 - allowed['carol']!, spent]);
    expect(await rest(undefined)).toEqual([25 - unauthorized, spent]);
  });
});

describe.each(ADAPTERS)('rules that are tried, on %s', (adapter) => {
  it.each([
    ['at once', () => new MemoryStore()],
    ['later', () => new SlowStore(new MemoryStore())],
  ])('count the user and not the address, in a store that answers %s', async (_, store) => {
    const rules = { default: 'fixed-window,2,10,mode=shadow' };
    const app = await start(adapter, {
      limits: { rules, store: store() },
      controllers: [Guarded],
    });
    const events: RateLimitEvent[] = [];
    app.service.events$.subscribe((event) => events.push(event));
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 200]);
    await turn();
    expect(events.map((event) => [event.type, 'userId' in event && event.userId])).toEqual([
      ['would-refuse', 'acme.alice'],
    ]);
    await statuses(app, 1, '/things', BAD);
    await statuses(app, 2, '/things', BAD);
    await turn();
    expect(events.slice(1).map((event) => 'userId' in event && event.userId)).toEqual([undefined]);
  });

  it('give the address back though the store answers when all is over', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const settled: string[][] = [];
    class Late extends SlowStore {
      override async decide(entries: readonly StoreEntry[], now: number) {
        if (entries[0]?.counters[0]?.plan.rule.mode === 'shadow') await gate;
        return super.decide(entries, now);
      }

      override async settle(...args: Parameters<RateLimitStore['settle']>): Promise<number> {
        settled.push(...args[0].entry.counters.map(({ values }) => [...values]));
        return super.settle(...args);
      }
    }
    const rules = { default: 'fixed-window,2,10,mode=shadow' };
    const store = new Late(new MemoryStore());
    const app = await start(adapter, { limits: { rules, store }, controllers: [Guarded] });
    expect(await statuses(app, 1, '/things', ALICE)).toEqual([200]);
    expect(settled).toEqual([]);
    open();
    await until('it is given back', () => settled.length > 0);
    expect(settled).toEqual([['@127.0.0.1', '/things']]);
  });

  it('are not spent where the user is refused', async () => {
    const rules = {
      default: 'fixed-window,2,10',
      always: { tried: 'fixed-window,3,10,by=ip,mode=shadow' },
    };
    const app = await start(adapter, { limits: { rules }, controllers: [Guarded] });
    const events: DecisionEvent[] = [];
    app.service.decisions$.subscribe((event) => events.push(event));
    expect(await statuses(app, 6, '/things', ALICE)).toEqual(sequence([2, 200], [4, 429]));
    const tried = events.filter(({ shadow }) => shadow).map(({ decision }) => decision.remaining);
    expect(tried).toEqual([2, 1, 0, 0, 0, 0]);
    expect(events.every(({ decision, shadow }) => !shadow || decision.allowed)).toBe(true);
  });

  it('count by user in a module that tries all', async () => {
    const app = await start(adapter, {
      limits: { rules: TWO, mode: 'shadow' },
      controllers: [Guarded],
    });
    const events: RateLimitEvent[] = [];
    app.service.events$.subscribe((event) => events.push(event));
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 200]);
    expect(events.map((event) => 'userId' in event && event.userId)).toEqual(['acme.alice']);
    // Nothing is in force, so that peek tells of no limit; the counters stand all the same.
    const left = async (user?: string) =>
      (await app.service.explain(user, '/things', HERE)).rules[0]!.remaining;
    expect(await left()).toBe(2);
    expect(await left('acme.alice')).toBe(0);
  });
});

describe.each(ADAPTERS)('a store that fails between the doors, on %s', (adapter) => {
  const open = async (rules: object) => {
    const store = new Shaky(new MemoryStore());
    const app = await start(adapter, { limits: { rules, store }, controllers: [Guarded] });
    return { ...app, store };
  };

  it('lets in by default, and tells no limit', async () => {
    const app = await open({ ...TWO, always: { flood: 'fixed-window,40,10,by=ip' } });
    between = () => {
      app.store.failing = true;
    };
    const answer = await app.http.get('/things').set(ALICE);
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('ratelimit');
    expect(answer.headers).not.toHaveProperty('ratelimit-policy');
    expect(app.logs.ofLimiter('error').length + app.logs.warnings().length).toBe(1);
  });

  it('refuses where the rule says deny', async () => {
    const app = await open({ default: 'fixed-window,2,10,onStoreError=deny' });
    between = () => {
      app.store.failing = true;
    };
    const answer = await app.http.get('/things').set(ALICE);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.headers).not.toHaveProperty('ratelimit');
    app.store.failing = false;
    between = () => undefined;
    app.clock.advance(1000);
    expect(await statuses(app, 2, '/things', ALICE)).toEqual([200, 200]);
  });

  it('counts here where the rule says local', async () => {
    const app = await open({ default: 'fixed-window,2,10,onStoreError=local' });
    app.store.failing = true;
    expect(await statuses(app, 3, '/things', ALICE)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/things', BOB)).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/things', BAD)).toEqual([401, 401, 429]);
  });

  it('tells no limit that was told without the store, when it is back', async () => {
    const always = { flood: 'fixed-window,40,10,by=ip' };
    const app = await open({ user: { 'acme.bob': 'fixed-window,2,10' }, always });
    for (const who of [ALICE, BOB]) {
      app.store.failing = true;
      between = () => {
        app.store.failing = false;
      };
      const answer = await app.http.get('/things').set(who);
      expect(answer.status).toBe(200);
      expect(answer.headers['ratelimit'] ?? '').not.toContain('flood');
    }
  });
});

describe.each(ADAPTERS)('who leaves between the doors, on %s', (adapter) => {
  it.each([
    ['fixed-window,2,10'],
    ['fixed-window,2,10,wait=5s'],
    ['fixed-window,2,10,count=failures'],
  ])('leaves the address whole, and gains nothing: %s', async (rule) => {
    const app = await start(adapter, {
      limits: { rules: { default: rule } },
      controllers: [Guarded],
    });
    let arrived = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    between = () => {
      arrived++;
      return gate;
    };
    const closed: Promise<unknown>[] = [];
    app.app.getHttpServer().on('request', (_: unknown, response: NodeJS.EventEmitter) => {
      closed.push(once(response, 'close'));
    });
    const { port } = app.app.getHttpServer().address() as AddressInfo;
    const request = get({ port, path: '/things', headers: ALICE, agent: false });
    request.on('error', () => {});
    await until('it is between the doors', () => arrived === 1);
    request.destroy();
    await until('the server knows', () => closed.length === 1);
    await closed[0];
    open();
    await until('it is decided', async () => (await remaining(app)) === 2);
    await until('he is charged', async () => (await remaining(app, 'acme.alice')) === 1);
  });
});
