import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { describeWithRedis, redisBinary, TIED_TO_US } from './redis-binary.js';
import { exchange, type Reply, type RespArgument } from './resp.js';
import { until } from './until.js';

export { describeWithRedis };

export interface RedisServerOptions {
  port?: number;
  password?: string;
  /** More lines of its redis.conf: `['maxmemory 2mb', 'replicaof 127.0.0.1 7000']`. */
  config?: readonly string[];
  /** Runs as a sentinel, which knows none of the lines that are about data. */
  sentinel?: boolean;
}

/** A server of a test's own, on a loopback port, without persistence unless configured. */
export class RedisServer {
  /** How long `send` waits for a reply. */
  patienceMillis = 5_000;
  private readonly folder = mkdtempSync(join(tmpdir(), 'doorman-redis-'));
  private process!: ChildProcess;
  private ended!: Promise<unknown>;

  private constructor(
    readonly port: number,
    private readonly options: RedisServerOptions,
  ) {
    const data = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];
    const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${this.folder}`];
    if (!options.sentinel) lines.push(...data);
    if (options.password !== undefined) lines.push(`requirepass "${options.password}"`);
    writeFileSync(
      join(this.folder, 'redis.conf'),
      [...lines, ...(options.config ?? [])].join('\n'),
    );
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(options.port ?? (await freePort()), options);
    await server.launch();
    return server;
  }

  get pid(): number {
    return this.process.pid!;
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Neither ended nor frozen. */
  get awake(): boolean {
    return this.running && stateOf(this.pid) !== 'T';
  }

  /** Sends one command over a connection of its own. An error reply rejects. */
  send(...args: RespArgument[]): Promise<Reply> {
    const { password } = this.options;
    const login = password === undefined ? [] : [['AUTH', password]];
    return exchange(this.port, [...login, args], this.patienceMillis);
  }

  /** One field of INFO, such as `role` or `connected_clients`. */
  async info(field: string): Promise<string | undefined> {
    return infoField(await this.send('INFO'), field);
  }

  /** Stops the process where it stands: connections stay open, nothing answers. */
  async freeze(): Promise<void> {
    this.process.kill('SIGSTOP');
    await until('the server stands still', () => stateOf(this.pid) === 'T');
  }

  thaw(): void {
    this.process.kill('SIGCONT');
  }

  /** As a crash: without a word to clients, replicas or the disk. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }

  /** The same port again, after a crash if need be: empty, or with the data that it had. */
  async restart({ keepData = false } = {}): Promise<void> {
    this.thaw();
    if (keepData && this.running) await this.send('SAVE');
    await this.kill();
    if (!keepData) {
      for (const name of ['dump.rdb', 'appendonlydir', 'appendonly.aof']) this.remove(name);
    }
    await this.launch();
  }

  async stop(): Promise<void> {
    await this.kill();
    this.remove('');
  }

  private async launch(): Promise<void> {
    const log = openSync(join(this.folder, 'log'), 'a');
    const mode = this.options.sentinel ? ['--sentinel'] : [];
    const words = [...TIED_TO_US, redisBinary!, join(this.folder, 'redis.conf'), ...mode];
    this.process = spawn(words[0]!, words.slice(1), { stdio: ['ignore', log, log] });
    this.ended = new Promise((resolve) => this.process.once('exit', resolve));
    closeSync(log);
    try {
      await until('the server answers', async () => !this.running || (await this.answers()));
      if (!this.running) throw new Error('The server ended at once');
    } catch (error) {
      const cause = readFileSync(join(this.folder, 'log'), 'utf8');
      await this.stop();
      throw new Error(`No Redis server on port ${this.port}: ${error}\n${cause}`);
    }
  }

  /** Whether it is this process that answers, and not another on its port. */
  private async answers(): Promise<boolean> {
    return (
      (await this.info('process_id')) === `${this.pid}` && (await this.send('PING')) === 'PONG'
    );
  }

  private remove(name: string): void {
    rmSync(join(this.folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

export function infoField(info: Reply, field: string): string | undefined {
  return new RegExp(`^${field}:(.*?)\r?$`, 'm').exec(String(info))?.[1];
}

function stateOf(pid: number): string | undefined {
  if (process.platform === 'linux')
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  return spawnSync('ps', ['-o', 'state=', '-p', `${pid}`], { encoding: 'utf8' }).stdout[0];
}
