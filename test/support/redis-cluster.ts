import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { redisCli } from './redis-binary.js';
import { infoField, RedisServer } from './redis-server.js';
import type { Reply } from './resp.js';
import { until } from './until.js';

export interface RedisClusterOptions {
  masters?: number;
  replicasEach?: number;
  /** More lines of redis.conf, the same for every node. */
  config?: readonly string[];
}

/** A cluster of a test's own on loopback ports, with its slots spread over all masters. */
export class RedisCluster {
  private readonly moves = new Map<number, Move>();

  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(options: RedisClusterOptions = {}): Promise<RedisCluster> {
    const { masters = 3, replicasEach = 0, config = [] } = options;
    const lines = ['cluster-enabled yes', 'cluster-node-timeout 1000', ...config];
    const nodes: RedisServer[] = [];
    const cluster = new RedisCluster(nodes);
    try {
      while (nodes.length < masters * (1 + replicasEach)) {
        nodes.push(await RedisServer.start({ config: lines }));
      }
      await cluster.join(replicasEach);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get ports(): number[] {
    return this.nodes.map(({ port }) => port);
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.anyNode().send('CLUSTER', 'KEYSLOT', key));
  }

  /** The master that serves the slot; during a move the one it leaves. */
  async ownerOf(slot: number): Promise<RedisServer> {
    const ranges = (await this.anyNode().send('CLUSTER', 'SLOTS')) as SlotRange[];
    const port = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2][1];
    const owner = this.nodes.find((node) => node.port === port);
    if (!owner) throw new Error(`No node serves slot ${slot}`);
    return owner;
  }

  async ownerOfKey(key: string): Promise<RedisServer> {
    return this.ownerOf(await this.slotOf(key));
  }

  /** A master that does not serve the slot: where to move it. */
  async strangerTo(slot: number): Promise<RedisServer> {
    const owner = await this.ownerOf(slot);
    for (const node of this.nodes) {
      if (node !== owner && (await node.info('role')) === 'master') return node;
    }
    throw new Error(`No other master than the owner of slot ${slot}`);
  }

  /** The move is under way, no key has moved: who asks for a missing key is sent on with ASK. */
  async beginMove(slot: number, to: RedisServer): Promise<void> {
    const from = await this.ownerOf(slot);
    await to.send('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
    await from.send('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
    this.moves.set(slot, { from, to });
  }

  /** Moves the keys named, all of one slot whose move has begun. */
  async moveKeys(...keys: [string, ...string[]]): Promise<void> {
    const reply = await this.migrate(this.moveOf(await this.slotOf(keys[0])), keys);
    if (reply !== 'OK') throw new Error(`None of these keys is there to move: ${keys.join(' ')}`);
  }

  /** The slot is the new owner's on every node. Keys left behind would be lost: they move first. */
  async finishMove(slot: number): Promise<void> {
    const { from, to } = this.moveOf(slot);
    const left = Number(await from.send('CLUSTER', 'COUNTKEYSINSLOT', slot));
    const keys = (await from.send('CLUSTER', 'GETKEYSINSLOT', slot, left)) as string[];
    if (keys.length > 0) await this.migrate({ from, to }, keys);
    const others = this.nodes.filter((node) => node !== to && node !== from && node.awake);
    for (const node of [to, from, ...others]) {
      if ((await node.info('role')) !== 'master') continue;
      await node.send('CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(to));
    }
    this.moves.delete(slot);
  }

  async moveSlot(slot: number, to: RedisServer): Promise<void> {
    await this.beginMove(slot, to);
    await this.finishMove(slot);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async join(replicasEach: number): Promise<void> {
    const addresses = this.ports.map((port) => `127.0.0.1:${port}`);
    const replicas = ['--cluster-replicas', `${replicasEach}`, '--cluster-yes'];
    const words = ['--cluster', 'create', ...addresses, ...replicas];
    await promisify(execFile)(redisCli!, words, { timeout: 30_000 });
    for (const node of this.nodes) {
      await until(`port ${node.port} has the whole cluster`, async () => {
        const info = await node.send('CLUSTER', 'INFO');
        const known = infoField(info, 'cluster_known_nodes') === `${this.nodes.length}`;
        return known && infoField(info, 'cluster_state') === 'ok';
      });
    }
  }

  private migrate({ from, to }: Move, keys: readonly string[]): Promise<Reply> {
    return from.send('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
  }

  private moveOf(slot: number): Move {
    const move = this.moves.get(slot);
    if (!move) throw new Error(`No move of slot ${slot} has begun`);
    return move;
  }

  private anyNode(): RedisServer {
    const node = this.nodes.find(({ awake }) => awake);
    if (!node) throw new Error('No node of the cluster is awake');
    return node;
  }
}

interface Move {
  from: RedisServer;
  to: RedisServer;
}

/** The first and the last slot, the master, its replicas. */
type SlotRange = [number, number, [host: string, port: number, id: string]];

async function idOf(node: RedisServer): Promise<string> {
  return String(await node.send('CLUSTER', 'MYID'));
}
