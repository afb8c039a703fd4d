import { RedisServer } from './redis-server.js';
import { until } from './until.js';

/** Shorter than by default, so that a failover takes two seconds, not ten. Before 7.0 refused. */
const PERIODS = ['INFO-PERIOD', 'PING-PERIOD', 'ASK-PERIOD', 'PUBLISH-PERIOD'];

/** A sentinel that a busy machine let stand still for two seconds does nothing for thirty. */
const FAILOVER_MILLIS = 45_000;

/** A master with one replica, and one sentinel that alone may decide on a failover. */
export class RedisSentinel {
  readonly name = 'mymaster';

  private constructor(
    readonly servers: readonly RedisServer[],
    readonly sentinel: RedisServer,
  ) {}

  static async start(): Promise<RedisSentinel> {
    const started: RedisServer[] = [];
    const start = async (...options: Parameters<typeof RedisServer.start>) => {
      const server = await RedisServer.start(...options);
      started.push(server);
      return server;
    };
    try {
      const master = await start();
      const replica = await start({ config: [`replicaof 127.0.0.1 ${master.port}`] });
      await until('the replica follows', () => follows(replica));
      const sentinel = await start({ sentinel: true, config: watching(master) });
      const all = new RedisSentinel([master, replica], sentinel);
      await all.prepare();
      return all;
    } catch (error) {
      await Promise.all(started.map((server) => server.stop()));
      throw error;
    }
  }

  /** Where clients ask for the master. */
  get port(): number {
    return this.sentinel.port;
  }

  /** The master by the word of the sentinel. */
  async master(): Promise<RedisServer> {
    const address = await this.sentinel.send('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.name);
    const port = (address as string[])[1];
    return this.servers.find((server) => `${server.port}` === port)!;
  }

  /** Makes the replica the master, and waits until it is; the old master lives and follows it. */
  async failover(): Promise<RedisServer> {
    const old = await this.master();
    // Refused as long as another failover, or the replica's first report, is under way.
    const begin = () => this.sentinel.send('SENTINEL', 'FAILOVER', this.name);
    await until('the sentinel begins', begin, FAILOVER_MILLIS);
    const heir = await this.heirOf(old);
    await until('the old master follows the new', () => follows(old), 20_000);
    return heir;
  }

  /** Kills the master, and waits until the sentinel has noticed and made the replica the master. */
  async crash(): Promise<RedisServer> {
    const old = await this.master();
    await old.kill();
    return this.heirOf(old);
  }

  /** Waits until another than `old`, which was frozen perhaps, is the master. */
  async heirOf(old: RedisServer): Promise<RedisServer> {
    const heirIsMaster = async () => {
      const heir = await this.master();
      return heir !== old && (await heir.info('role')) === 'master' && heir;
    };
    return until('another is the master', heirIsMaster, FAILOVER_MILLIS);
  }

  async stop(): Promise<void> {
    await Promise.all([this.sentinel, ...this.servers].map((server) => server.stop()));
  }

  private async prepare(): Promise<void> {
    const periods = PERIODS.flatMap((name) => [name, 100]);
    await this.sentinel.send('SENTINEL', 'DEBUG', ...periods).catch(() => undefined);
    await until('the sentinel knows the replica', async () => {
      const replicas = await this.sentinel.send('SENTINEL', 'REPLICAS', this.name);
      return (replicas as unknown[]).length === this.servers.length - 1;
    });
  }
}

function watching(master: RedisServer): string[] {
  return [
    `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds mymaster 500',
    'sentinel failover-timeout mymaster 2000',
  ];
}

async function follows(server: RedisServer): Promise<boolean> {
  return (await server.info('master_link_status')) === 'up';
}
