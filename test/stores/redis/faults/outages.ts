import { createHash } from 'node:crypto';
import { RedisServer } from '../../../support/redis-server.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

/** A server, and the way to it. */
export interface Site {
  readonly server: RedisServer;
  readonly proxy: TcpProxy;
}

export interface Outage {
  readonly name: string;
  readonly begin: (site: Site) => unknown;
  readonly end: (site: Site) => unknown;
  /** Whether the counters are gone afterwards. */
  readonly empties?: boolean;
}

/** Whom the store logs in as, so that the test can still log in. */
export const LOGIN = { username: 'shop', password: 'open sesame' };

const user = async ({ server, proxy }: Site, ...rules: string[]) => {
  await server.send('ACL', 'SETUSER', LOGIN.username, ...rules);
  proxy.cut();
};

/** Whatever can become of a Redis that worked. */
export const OUTAGES: readonly Outage[] = [
  {
    name: 'frozen',
    begin: ({ server }) => server.freeze(),
    end: ({ server }) => server.thaw(),
  },
  {
    name: 'cut off by a network that swallows packets',
    begin: ({ proxy }) => proxy.freeze(),
    end: ({ proxy }) => proxy.thaw(),
  },
  {
    name: 'slow, 2 s away',
    begin: ({ proxy }) => {
      proxy.delayMillis = 1000;
    },
    end: ({ proxy }) => {
      proxy.delayMillis = 0;
    },
  },
  {
    name: 'killed, and comes back empty',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.restart(),
    empties: true,
  },
  {
    name: 'killed, and comes back with its data',
    begin: async ({ server }) => {
      await server.send('SAVE');
      await server.kill();
    },
    end: ({ server }) => server.restart({ keepData: true }),
  },
  {
    name: 'a network that refuses connections',
    begin: ({ proxy }) => {
      proxy.refuse();
      proxy.cut();
    },
    end: ({ proxy }) => proxy.accept(),
  },
  {
    name: 'a replica after a failover',
    begin: ({ server }) => server.send('REPLICAOF', '127.0.0.1', '1'),
    end: ({ server }) => server.send('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'out of memory',
    begin: ({ server }) => server.send('CONFIG', 'SET', 'maxmemory', '1'),
    end: ({ server }) => server.send('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'without scripts for this user',
    begin: (site) => user(site, '-evalsha', '-eval'),
    end: (site) => user(site, '+@all'),
  },
  {
    name: 'after another password was set',
    begin: (site) => user(site, 'resetpass', '>another'),
    end: (site) => user(site, 'resetpass', `>${LOGIN.password}`),
  },
];

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export async function openSite(): Promise<Site> {
  const { username, password } = LOGIN;
  const config = [`user ${username} on "#${sha256(password)}" ~* &* +@all`];
  const server = await RedisServer.start({ config });
  return { server, proxy: await TcpProxy.to(server.port) };
}

export async function closeSite({ server, proxy }: Site): Promise<void> {
  await server.stop();
  await proxy.stop();
}
