import {
  All,
  Controller,
  Get,
  HttpCode,
  type INestApplication,
  Module,
  Post,
  RequestMethod,
  type Type,
  VERSION_NEUTRAL,
  Version,
  VersioningType,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { RateLimit } from 'nestjs-doorman';
import {
  ADAPTERS,
  type AdapterName,
  byHeader,
  left,
  type Running,
  start,
  statuses,
} from './support.js';

const ALICE = { 'x-user': 'alice' };
const NINE = { default: 'fixed-window,9,10' };

@Controller('things')
class ThingsController {
  @Get()
  list() {
    return [];
  }

  @Post()
  @HttpCode(200)
  make() {
    return {};
  }

  @Get(':id')
  find() {
    return {};
  }
}

/** The apis that decisions are about, in their order. */
function apisOf({ service }: Running): string[] {
  const apis: string[] = [];
  service.decisions$.subscribe(({ api }) => apis.push(api));
  return apis;
}

describe.each(ADAPTERS)('methods on %s', (adapter) => {
  const controllers = [ThingsController];

  it('counts HEAD and GET together', async () => {
    const { http } = await start(adapter, { limits: byHeader(NINE), controllers });
    expect(left(await http.get('/things').set(ALICE))).toBe(8);
    expect(left(await http.head('/things').set(ALICE))).toBe(7);
    expect(left(await http.get('/things').set(ALICE))).toBe(6);
  });

  it('refuses HEAD when GET used all up, and the other way round', async () => {
    const two = byHeader({ default: 'fixed-window,2,10' });
    const app = await start(adapter, { limits: two, controllers });
    expect(await statuses(app, 2, '/things', ALICE, 'get')).toEqual([200, 200]);
    expect(await statuses(app, 1, '/things', ALICE, 'head')).toEqual([429]);
    const bob = { 'x-user': 'bob' };
    expect(await statuses(app, 2, '/things', bob, 'head')).toEqual([200, 200]);
    expect(await statuses(app, 1, '/things', bob, 'get')).toEqual([429]);
  });

  it('looks HEAD up as GET', async () => {
    const rules = { default: 'fixed-window,9,10', api: { 'GET /things': 'fixed-window,5,10' } };
    const { http } = await start(adapter, { limits: byHeader(rules), controllers });
    expect(left(await http.head('/things').set(ALICE))).toBe(4);
    expect(left(await http.get('/things').set(ALICE))).toBe(3);
  });

  it('reads HEAD in the book as GET', async () => {
    const rules = { api: { 'HEAD /things': 'fixed-window,5,10' } };
    const { http, logs } = await start(adapter, { limits: byHeader(rules), controllers });
    expect(logs.warnings()).toEqual([]);
    expect(left(await http.get('/things').set(ALICE))).toBe(4);
  });

  it('counts GET and POST together under a default rule', async () => {
    const { http } = await start(adapter, { limits: byHeader(NINE), controllers });
    expect(left(await http.get('/things').set(ALICE))).toBe(8);
    expect(left(await http.post('/things').set(ALICE))).toBe(7);
    expect(left(await http.get('/things').set(ALICE))).toBe(6);
  });

  it('counts GET and POST together under an entry for the path', async () => {
    const rules = { api: { '/things': 'fixed-window,5,10' } };
    const { http } = await start(adapter, { limits: byHeader(rules), controllers });
    expect(left(await http.get('/things').set(ALICE))).toBe(4);
    expect(left(await http.post('/things').set(ALICE))).toBe(3);
  });

  it('counts POST apart where the book names it', async () => {
    const rules = { ...NINE, api: { 'POST /things': 'fixed-window,2,10' } };
    const app = await start(adapter, { limits: byHeader(rules), controllers });
    expect(await statuses(app, 3, '/things', ALICE, 'post')).toEqual([200, 200, 429]);
    expect(left(await app.http.get('/things').set(ALICE))).toBe(8);
    expect(await statuses(app, 1, '/things', ALICE, 'post')).toEqual([429]);
  });

  it('prefers the entry with the method, however its name is spelled', async () => {
    const api = { '/things': 'fixed-window,7,10', 'post  /things': 'fixed-window,2,10' };
    const { http } = await start(adapter, { limits: byHeader({ api }), controllers });
    expect(left(await http.post('/things').set(ALICE))).toBe(1);
    expect(left(await http.get('/things').set(ALICE))).toBe(6);
  });

  it('counts every method of an @All handler together', async () => {
    @Controller()
    class Everything {
      @All('any')
      any() {
        return {};
      }

      @RateLimit('fixed-window,5,10')
      @All('decorated')
      decorated() {
        return {};
      }
    }
    const app = await start(adapter, { limits: byHeader(NINE), controllers: [Everything] });
    const apis = apisOf(app);
    expect(left(await app.http.get('/any').set(ALICE))).toBe(8);
    expect(left(await app.http.post('/any').set(ALICE))).toBe(7);
    expect(left(await app.http.delete('/any').set(ALICE))).toBe(6);
    expect(left(await app.http.put('/any').set(ALICE))).toBe(5);
    expect(left(await app.http.head('/any').set(ALICE))).toBe(4);
    expect(left(await app.http.get('/decorated').set(ALICE))).toBe(4);
    expect(left(await app.http.patch('/decorated').set(ALICE))).toBe(3);
    expect(new Set(apis)).toEqual(new Set(['/any', '/decorated']));
  });

  it('finds entries by method for an @All handler', async () => {
    @Controller()
    class Everything {
      @All('any')
      any() {
        return {};
      }
    }
    const rules = { ...NINE, api: { 'DELETE /any': 'fixed-window,1,10' } };
    const app = await start(adapter, { limits: byHeader(rules), controllers: [Everything] });
    expect(app.logs.warnings()).toEqual([]);
    expect(await statuses(app, 2, '/any', ALICE, 'delete')).toEqual([200, 429]);
    expect(left(await app.http.get('/any').set(ALICE))).toBe(8);
  });

  it('counts two decorated handlers of one path apart', async () => {
    @Controller('orders')
    class Orders {
      @RateLimit('fixed-window,5,10')
      @Get()
      list() {
        return [];
      }

      @RateLimit('fixed-window,5,10')
      @Post()
      place() {
        return {};
      }
    }
    const { http } = await start(adapter, { limits: {}, controllers: [Orders] });
    expect(left(await http.get('/orders'))).toBe(4);
    expect(left(await http.post('/orders'))).toBe(4);
  });
});

describe.each(ADAPTERS)('spellings on %s', (adapter) => {
  const controllers = [ThingsController];

  it('does not count what no route serves, and says nothing there', async () => {
    const app = await start(adapter, { limits: byHeader(NINE), controllers });
    const missing = await app.http.get('/nowhere').set(ALICE);
    expect(missing.status).toBe(404);
    expect(missing.headers).not.toHaveProperty('ratelimit');
    expect(await statuses(app, 20, '/nowhere', ALICE)).toEqual(Array<number>(20).fill(404));
    expect(await statuses(app, 3, '/things', ALICE, 'delete')).toEqual([404, 404, 404]);
    expect(left(await app.http.get('/things').set(ALICE))).toBe(8);
  });

  it('has one counter for a route, however a client spells it', async () => {
    const lenient = { caseSensitive: false, ignoreTrailingSlash: true };
    const app = await start(adapter, {
      limits: byHeader({ default: 'fixed-window,100,10' }),
      controllers,
      ...(adapter === 'fastify' && {
        adapter: new FastifyAdapter({
          routerOptions: { ...lenient, ignoreDuplicateSlashes: true },
        }),
      }),
    });
    const apis = apisOf(app);
    const spellings = [
      '/things',
      '/things/',
      '/THINGS',
      '/tHiNgS/',
      '/things?page=2',
      '/things/?page=2&page=3',
      '/things?',
      '/things#part',
      '/things?__proto__=1',
    ];
    const seen: number[] = [];
    for (const path of spellings) seen.push(left(await app.http.get(path).set(ALICE)));
    expect(seen).toEqual(spellings.map((_, i) => 99 - i));
    expect(new Set(apis)).toEqual(new Set(['/things']));
  });

  it('has no new counter for a spelling that the router serves by default', async () => {
    const app = await start(adapter, { limits: byHeader(NINE), controllers });
    let served = 0;
    for (const path of ['/things/', '/THINGS', '/%74hings', '//things', '/things//', '/./things']) {
      const { status } = await app.http.get(path).set(ALICE);
      expect([200, 404]).toContain(status);
      if (status === 200 && !/^\/\/?things\/\/$/.test(path)) served++;
    }
    const remaining = left(await app.http.get('/things').set(ALICE));
    const others = left(await app.http.get('/things/1').set(ALICE));
    expect(8 - remaining + (8 - others)).toBe(served);
  });

  it('has one counter for all values of a parameter', async () => {
    const app = await start(adapter, {
      limits: byHeader({ default: 'fixed-window,100,10' }),
      controllers,
    });
    const apis = apisOf(app);
    const paths = [
      '1',
      '2',
      '%31',
      'a%2Fb',
      '%C3%A4',
      'A',
      'a;v=1',
      '1?x=1',
      '__proto__',
      '%E2%82%AC',
    ];
    const seen: number[] = [];
    for (const path of paths) seen.push(left(await app.http.get(`/things/${path}`).set(ALICE)));
    expect(seen).toEqual(paths.map((_, i) => 99 - i));
    expect(new Set(apis)).toEqual(new Set(['/things/:id']));
  });
});

// ── templates ─────────────────────────────────────────────────────────────────────────────────────

/** Makes a controller, decorated or not: each application has its own. */
type Maker = (limit?: ClassDecorator) => Type;

interface Arrangement {
  readonly name: string;
  readonly controller: Maker;
  /** The path of its module, and of the module around that. */
  readonly modulePaths?: readonly string[];
  readonly setUp?: (app: INestApplication) => void;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly api: string;
  /** Where only one of the frameworks knows such a path. */
  readonly only?: AdapterName;
}

function controllerAt(path: string | string[], route: string | string[] = '', version?: unknown) {
  return (limit: ClassDecorator = () => undefined): Type => {
    @limit
    @Controller({ path, ...(version === undefined ? {} : { version: version as string }) })
    class At {
      @Get(route)
      get() {
        return {};
      }
    }
    return At;
  };
}

function versionedHandler(limit: ClassDecorator = () => undefined): Type {
  @limit
  @Controller('things')
  class VersionedHandler {
    @Version('2')
    @Get()
    get() {
      return {};
    }
  }
  return VersionedHandler;
}

/** What the application is made of: the controller at its place. */
function placed({ controller, modulePaths, setUp }: Arrangement, limit?: ClassDecorator) {
  const type = controller(limit);
  @Module({ controllers: [type] })
  class Feature {}
  const routes = (modulePaths ?? []).reduceRight<object | undefined>(
    (inner, path) => (inner ? { path, children: [inner] } : { path, module: Feature }),
    undefined,
  );
  const imports = routes ? [Feature, RouterModule.register([routes as never])] : [Feature];
  return { imports, ...(setUp && { setUp }) };
}

const uri = (more: object = {}) => {
  return (app: INestApplication) => {
    app.enableVersioning({ type: VersioningType.URI, ...more } as never);
  };
};

const prefix = (text: string, exclude: unknown[] = [], then?: (app: INestApplication) => void) => {
  return (app: INestApplication) => {
    app.setGlobalPrefix(text, { exclude: exclude as string[] });
    then?.(app);
  };
};

const ARRANGEMENTS: Arrangement[] = [
  { name: 'a path', controller: controllerAt('things'), path: '/things', api: '/things' },
  { name: 'the root', controller: controllerAt(''), path: '/', api: '/' },
  {
    name: 'slashes all over',
    controller: controllerAt('/things/', '/all/'),
    path: '/things/all',
    api: '/things/all',
  },
  {
    name: 'parameters',
    controller: controllerAt('users/:user', 'orders/:order'),
    path: '/users/1/orders/2',
    api: '/users/:user/orders/:order',
  },
  {
    name: 'a parameter with a suffix',
    controller: controllerAt('files', ':name.txt'),
    path: '/files/notes.txt',
    api: '/files/:name.txt',
  },
  {
    name: 'a path beyond ASCII',
    controller: controllerAt('café'),
    path: '/caf%C3%A9',
    api: '/café',
    only: 'fastify',
  },
  {
    name: 'several paths of a handler, the first',
    controller: controllerAt('things', ['a', 'b']),
    path: '/things/a',
    api: '/things/a',
  },
  {
    name: 'several paths of a handler, the second',
    controller: controllerAt('things', ['a', 'b']),
    path: '/things/b',
    api: '/things/b',
  },
  {
    name: 'several paths of a controller',
    controller: controllerAt(['things', 'stuff'], 'all'),
    path: '/stuff/all',
    api: '/stuff/all',
  },
  {
    name: 'a global prefix',
    controller: controllerAt('things'),
    setUp: prefix('api'),
    path: '/api/things',
    api: '/api/things',
  },
  {
    name: 'a global prefix with slashes',
    controller: controllerAt('things'),
    setUp: prefix('/my/api/'),
    path: '/my/api/things',
    api: '/my/api/things',
  },
  {
    name: 'a global prefix with a parameter',
    controller: controllerAt('things'),
    setUp: prefix(':tenant/api'),
    path: '/acme/api/things',
    api: '/:tenant/api/things',
  },
  {
    name: 'a global prefix at the root',
    controller: controllerAt(''),
    setUp: prefix('api'),
    path: '/api',
    api: '/api',
  },
  {
    name: 'a global prefix and a path that is excluded',
    controller: controllerAt('health'),
    setUp: prefix('api', ['health']),
    path: '/health',
    api: '/health',
  },
  {
    name: 'a global prefix and a method that is excluded',
    controller: controllerAt('health'),
    setUp: prefix('api', [{ path: 'health', method: RequestMethod.GET }]),
    path: '/health',
    api: '/health',
  },
  {
    name: 'a global prefix and another method that is excluded',
    controller: controllerAt('health'),
    setUp: prefix('api', [{ path: 'health', method: RequestMethod.POST }]),
    path: '/api/health',
    api: '/api/health',
  },
  {
    name: 'a global prefix and a wildcard that is excluded',
    controller: controllerAt('probes', 'live'),
    setUp: prefix('api', ['probes/*path']),
    path: '/probes/live',
    api: '/probes/live',
  },
  {
    name: 'a version in the path',
    controller: controllerAt('things', '', '1'),
    setUp: uri(),
    path: '/v1/things',
    api: '/v1/things',
  },
  {
    name: 'several versions in the path',
    controller: controllerAt('things', '', ['1', '2']),
    setUp: uri(),
    path: '/v2/things',
    api: '/v2/things',
  },
  {
    name: 'a version of the handler',
    controller: versionedHandler,
    setUp: uri(),
    path: '/v2/things',
    api: '/v2/things',
  },
  {
    name: 'a neutral version',
    controller: controllerAt('things', '', VERSION_NEUTRAL),
    setUp: uri(),
    path: '/things',
    api: '/things',
  },
  {
    name: 'a neutral version among others',
    controller: controllerAt('things', '', [VERSION_NEUTRAL, '3']),
    setUp: uri(),
    path: '/v3/things',
    api: '/v3/things',
  },
  {
    name: 'a version by default',
    controller: controllerAt('things'),
    setUp: uri({ defaultVersion: '4' }),
    path: '/v4/things',
    api: '/v4/things',
  },
  {
    name: 'a controller with a version beside one by default',
    controller: controllerAt('things', '', '1'),
    setUp: uri({ defaultVersion: '4' }),
    path: '/v1/things',
    api: '/v1/things',
  },
  {
    name: 'versions with another prefix',
    controller: controllerAt('things', '', '1'),
    setUp: uri({ prefix: 'version-' }),
    path: '/version-1/things',
    api: '/version-1/things',
  },
  {
    name: 'versions without a prefix',
    controller: controllerAt('things', '', '1'),
    setUp: uri({ prefix: false }),
    path: '/1/things',
    api: '/1/things',
  },
  {
    name: 'a global prefix before a version',
    controller: controllerAt('things', '', '1'),
    setUp: prefix('api', [], uri()),
    path: '/api/v1/things',
    api: '/api/v1/things',
  },
  {
    name: 'a version and a path that is excluded from the prefix',
    controller: controllerAt('health', '', '1'),
    setUp: prefix('api', ['health'], uri()),
    path: '/v1/health',
    api: '/v1/health',
  },
  {
    name: 'a version in a header',
    controller: controllerAt('things', '', '1'),
    setUp: (app) => {
      app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' });
    },
    path: '/things',
    headers: { 'X-Version': '1' },
    api: '/things',
  },
  {
    name: 'a version in the media type',
    controller: controllerAt('things', '', '1'),
    setUp: (app) => {
      app.enableVersioning({ type: VersioningType.MEDIA_TYPE, key: 'v=' });
    },
    path: '/things',
    headers: { Accept: 'application/json;v=1' },
    api: '/things',
  },
  {
    name: 'the path of a module',
    controller: controllerAt('things'),
    modulePaths: ['admin'],
    path: '/admin/things',
    api: '/admin/things',
  },
  {
    name: 'the path of a module in a module',
    controller: controllerAt('things'),
    modulePaths: ['outer', 'inner'],
    path: '/outer/inner/things',
    api: '/outer/inner/things',
  },
  {
    name: 'prefix, version, module, controller and handler',
    controller: controllerAt('things', ':id', '1'),
    modulePaths: ['admin'],
    setUp: prefix('api', [], uri()),
    path: '/api/v1/admin/things/7',
    api: '/api/v1/admin/things/:id',
  },
  {
    name: 'a named wildcard',
    controller: controllerAt('files', '*path'),
    path: '/files/a/b.txt',
    api: '/files/*',
    only: 'express',
  },
  {
    name: 'an optional wildcard',
    controller: controllerAt('files', '{*path}'),
    path: '/files/a/b.txt',
    api: '/files/*',
    only: 'express',
  },
  {
    name: 'a wildcard without a name',
    controller: controllerAt('files', '*'),
    path: '/files/a/b.txt',
    api: '/files/*',
  },
  {
    name: 'a wildcard without a name behind a parameter',
    controller: controllerAt('users/:user/files', '*'),
    path: '/users/1/files/x',
    api: '/users/:user/files/*',
  },
  {
    name: 'a wildcard without a name for everything',
    controller: controllerAt('*'),
    path: '/what/ever',
    api: '/*',
  },
  {
    name: 'a wildcard without a name under a prefix',
    controller: controllerAt('files', '*'),
    setUp: prefix('api'),
    path: '/api/files/x',
    api: '/api/files/*',
  },
  {
    name: 'a wildcard behind a parameter',
    controller: controllerAt('users/:user/files', '*path'),
    path: '/users/1/files/x',
    api: '/users/:user/files/*',
    only: 'express',
  },
  {
    name: 'a wildcard for everything',
    controller: controllerAt('*path'),
    path: '/what/ever',
    api: '/*',
    only: 'express',
  },
  {
    name: 'a wildcard under a prefix',
    controller: controllerAt('files', '*path'),
    setUp: prefix('api'),
    path: '/api/files/x',
    api: '/api/files/*',
    only: 'express',
  },
];

describe.each(ADAPTERS)('templates on %s', (adapter) => {
  const arrangements = ARRANGEMENTS.filter(({ only }) => only === undefined || only === adapter);

  it.each(arrangements)('finds the rule of $api for $name', async (arrangement) => {
    const { api, path, headers = {} } = arrangement;
    const limits = byHeader({ api: { [api]: 'fixed-window,9,10' } });
    const app = await start(adapter, { limits, ...placed(arrangement) });
    const apis = apisOf(app);
    expect(app.logs.warnings()).toEqual([]);
    const response = await app.http.get(path).set({ ...headers, ...ALICE });
    expect(response.status).toBe(200);
    expect(left(response)).toBe(8);
    expect(apis).toEqual([api]);
    expect((await app.service.peek('alice', api)).remaining).toBe(8);
    expect((await app.service.peek('alice', `GET ${api}`)).remaining).toBe(8);
  });

  it.each(arrangements)('resets a decorated handler by $api for $name', async (arrangement) => {
    const { api, path, headers = {} } = arrangement;
    const limit = RateLimit('fixed-window,9,10');
    const app = await start(adapter, { limits: byHeader({}), ...placed(arrangement, limit) });
    const ask = () => app.http.get(path).set({ ...headers, ...ALICE });
    expect(left(await ask())).toBe(8);
    expect(left(await ask())).toBe(7);
    expect((await app.service.peek('alice', api)).remaining).toBe(7);
    await app.service.reset('alice', api);
    expect(left(await ask())).toBe(8);
    await app.service.reset('alice', `GET ${api}`);
    expect(left(await ask())).toBe(8);
  });

  it('counts the paths of an undecorated handler apart, each by its template', async () => {
    const controllers = [controllerAt('things', ['a', 'b'])()];
    const { http } = await start(adapter, { limits: byHeader(NINE), controllers });
    expect(left(await http.get('/things/a').set(ALICE))).toBe(8);
    expect(left(await http.get('/things/b').set(ALICE))).toBe(8);
  });

  it('has one counter for all paths of a decorated handler', async () => {
    @Controller(['things', 'stuff'])
    class Paths {
      @RateLimit('fixed-window,9,10')
      @Get(['a', 'b'])
      get() {
        return {};
      }
    }
    const { http, service } = await start(adapter, { limits: byHeader({}), controllers: [Paths] });
    const seen: number[] = [];
    for (const path of ['/things/a', '/things/b', '/stuff/a', '/stuff/b']) {
      seen.push(left(await http.get(path).set(ALICE)));
    }
    expect(seen).toEqual([8, 7, 6, 5]);
    await service.reset('alice', '/stuff/b');
    expect(left(await http.get('/things/a').set(ALICE))).toBe(8);
  });

  it('counts versions in the path apart, and versions in a header together', async () => {
    const controllers = () => [controllerAt('things', '', ['1', '2'])()];
    const byUri = await start(adapter, {
      limits: byHeader(NINE),
      controllers: controllers(),
      setUp: uri(),
    });
    expect(left(await byUri.http.get('/v1/things').set(ALICE))).toBe(8);
    expect(left(await byUri.http.get('/v2/things').set(ALICE))).toBe(8);

    const byName = await start(adapter, {
      limits: byHeader(NINE),
      controllers: controllers(),
      setUp: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    });
    const seen: number[] = [];
    for (const version of ['1', '2']) {
      const response = await byName.http.get('/things').set({ ...ALICE, 'X-Version': version });
      seen.push(left(response));
    }
    expect(seen).toEqual([8, 7]);
  });

  it('counts decorated handlers of two versions apart', async () => {
    @Controller('things')
    class Things {
      @RateLimit('fixed-window,9,10')
      @Version('1')
      @Get()
      first() {
        return 1;
      }

      @RateLimit('fixed-window,5,10')
      @Version('2')
      @Get()
      second() {
        return 2;
      }
    }
    const { http } = await start(adapter, {
      limits: byHeader({}),
      controllers: [Things],
      setUp: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    });
    const ask = (version: string) => http.get('/things').set({ ...ALICE, 'X-Version': version });
    expect(left(await ask('1'))).toBe(8);
    expect(left(await ask('2'))).toBe(4);
    expect(left(await ask('1'))).toBe(7);
  });

  it('counts two versions of one path that share a base class apart', async () => {
    class Base {
      @RateLimit('fixed-window,9,10')
      @Get()
      get() {
        return {};
      }
    }
    @Controller({ path: 'things', version: '1' })
    class First extends Base {}
    @Controller({ path: 'things', version: '2' })
    class Second extends Base {}
    const { http } = await start(adapter, {
      limits: byHeader({}),
      controllers: [First, Second],
      setUp: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
    });
    const ask = (version: string) => http.get('/things').set({ ...ALICE, 'X-Version': version });
    expect(left(await ask('1'))).toBe(8);
    expect(left(await ask('2'))).toBe(8);
    expect(left(await ask('1'))).toBe(7);
  });

  it('serves routes that are bound to hosts', async () => {
    @Controller({ host: ':tenant.example.com', path: 'tenants' })
    class Tenants {
      @Get()
      get() {
        return {};
      }

      @RateLimit('fixed-window,5,10')
      @Get('own')
      own() {
        return {};
      }
    }
    const { http, service } = await start(adapter, {
      limits: byHeader(NINE),
      controllers: [Tenants],
    });
    const ask = (host: string, path = '/tenants') => http.get(path).set({ ...ALICE, Host: host });
    expect(left(await ask('a.example.com'))).toBe(8);
    expect(left(await ask('b.example.com'))).toBe(7);
    expect(left(await ask('a.example.com', '/tenants/own'))).toBe(4);
    expect((await service.peek('alice', '/tenants/own')).remaining).toBe(4);
  });
});

describe('hosts on express', () => {
  it('counts a path once, whichever of its hosts serves it', async () => {
    @Controller({ host: 'admin.example.com', path: 'things' })
    class Admin {
      @RateLimit('fixed-window,5,10')
      @Get()
      get() {
        return 'admin';
      }
    }
    @Controller('things')
    class Public {
      @Get()
      get() {
        return 'public';
      }
    }
    const { http } = await start('express', {
      limits: byHeader(NINE),
      controllers: [Admin, Public],
    });
    const ask = (host: string) => http.get('/things').set({ ...ALICE, Host: host });
    expect(left(await ask('admin.example.com'))).toBe(4);
    expect(left(await ask('www.example.com'))).toBe(8);
    expect(left(await ask('www.example.com'))).toBe(7);
    expect(left(await ask('admin.example.com'))).toBe(3);
  });
});
