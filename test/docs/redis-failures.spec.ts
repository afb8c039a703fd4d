import { readFileSync } from 'node:fs';
import { RedisStore } from 'nestjs-doorman/redis';
import { planCounters } from '../../src/core/counter-plan.js';
import { Policy } from '../../src/core/index.js';
import {
  describeWithRedis,
  RedisServer,
  type RedisServerOptions,
} from '../support/redis-server.js';
import { blocksOf } from './blocks.js';

/** The beginnings of messages in the runbook's table of log lines. */
const LISTED = [...readFileSync('docs/redis.md', 'utf8').matchAll(/`([^`]+?) …`/g)].map(
  ([, text]) => text!,
);

const plans = planCounters({ policy: Policy.of('fixed-window,5,1h'), place: 'x', label: 'x' });
const entry = { counters: plans.map((plan) => ({ plan, values: ['alice'] })), cost: 1 };

describeWithRedis('a failure in the log of docs/redis.md', () => {
  let server: RedisServer | undefined;

  afterEach(() => server?.stop());

  const login = async (...rights: string[]) => {
    await server!.send('ACL', 'SETUSER', 'doorman', 'reset', 'on', '>secret', '~shop:*', ...rights);
    return 'doorman:secret@';
  };

  it.each<[name: string, options: RedisServerOptions, prepare: () => Promise<string>]>([
    ['NOAUTH', { password: 'x' }, async () => ''],
    ['WRONGPASS', { password: 'x' }, async () => ':y@'],
    ['NOPERM', {}, () => login('+time', '+ping')],
    [
      "The user executing the script can't run|ACL failure in script",
      {},
      () => login('+@all', '-set'),
    ],
    ['OOM', { config: ['maxmemory 1'] }, async () => ''],
    ['READONLY', { config: ['replicaof 127.0.0.1 1'] }, async () => ''],
  ])('is told as it is listed: %s', async (name, options, prepare) => {
    server = await RedisServer.start(options);
    const url = `redis://${await prepare()}127.0.0.1:${server.port}`;
    const store = new RedisStore({ url }, { prefix: 'shop', timeoutMillis: 500 });
    const said: string[] = [];
    store.onEvent((event) => event.type === 'failed' && said.push(event.error.message));
    const [outcome] = await store.decide([{ ...entry, mode: 'take' }], Date.now());
    await store.close();
    expect(outcome!.decision.degraded).toBe(true);
    expect(said).toEqual([expect.stringMatching(new RegExp(name))]);
    expect(LISTED.some((text) => said[0]!.includes(text))).toBe(true);
  });

  it('shows the lines as they are logged', () => {
    const lines = blocksOf('docs/redis.md').find(({ text }) => text.startsWith('The redis store'));
    const source = readFileSync('src/nest/warnings.ts', 'utf8');
    for (const line of lines!.text.trim().split('\n')) {
      const told = line.replace('redis', '$' + '{name}').replace(/ Redis did.*/, ' $' + '{said}');
      expect(source).toContain(told);
    }
  });
});
