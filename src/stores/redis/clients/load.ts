import { dialAs as dialAsIoredis } from './ioredis.js';
import type { Ioredis, Options } from './ioredis-client.js';
import { asError, type Dial } from './link.js';
import { dialAs as dialAsNodeRedis } from './node-redis.js';
import type { CreateClient } from './node-redis-client.js';

/** What an address does not say. */
export interface Login {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly db?: number | undefined;
  /** Options of `tls.connect`; `true` for none. */
  readonly tls?: boolean | object | undefined;
}

type Exports = Readonly<Record<string, unknown>>;

/** In this order; each import stands alone, so that bundlers see which. */
const LIBRARIES: readonly (readonly [name: string, load: () => Promise<unknown>])[] = [
  ['ioredis', () => import('ioredis')],
  ['iovalkey', () => import('iovalkey')],
  ['redis', () => import('redis')],
];

/** Dials with whichever of the libraries is installed. */
export async function loadDial(login: Login): Promise<Dial> {
  for (const [name, load] of LIBRARIES) {
    const library = await loadIfInstalled(name, load);
    if (library === undefined) continue;
    return name === 'redis' ? nodeRedisDial(library, login) : ioredisDial(library, login);
  }
  throw new Error('The Redis store needs a client library: npm install ioredis');
}

/** Makes clients of single nodes for clusters and sentinels of node-redis. */
export async function loadCreateClient(): Promise<CreateClient> {
  const library = await loadIfInstalled('redis', () => import('redis'));
  if (library === undefined) {
    throw new Error('The Redis store needs the package of this client: npm install redis');
  }
  return exported(library, 'createClient') as CreateClient;
}

async function loadIfInstalled(
  name: string,
  load: () => Promise<unknown>,
): Promise<Exports | undefined> {
  try {
    return (await load()) as Exports;
  } catch (thrown) {
    const { code, message } = asError(thrown) as NodeJS.ErrnoException;
    const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    // Something that the library itself needs may be missing as well.
    if (missing && new RegExp(`['"]${name}['"]`).test(message)) return undefined;
    throw thrown;
  }
}

/** CommonJS under `import` may have its exports in `default` alone. */
function exported(library: Exports, name: string): unknown {
  return library[name] ?? (library['default'] as Exports)[name];
}

function ioredisDial(library: Exports, { username, password, db, tls }: Login): Dial {
  const Redis = exported(library, 'Redis') as new (options: Options) => Ioredis;
  const login = { username, password, db, tls: tls === true ? {} : tls || undefined };
  return dialAsIoredis({ duplicate: (options) => new Redis({ ...login, ...options }) });
}

function nodeRedisDial(library: Exports, { username, password, db, tls }: Login): Dial {
  const create = exported(library, 'createClient') as CreateClient;
  const socket = tls ? { ...(tls === true ? {} : tls), tls: true } : {};
  return dialAsNodeRedis(create, { username, password, database: db, socket });
}
