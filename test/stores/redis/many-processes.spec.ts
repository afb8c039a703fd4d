import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeWithRedis, RedisServer } from '../../support/redis-server.js';
import type { Order, Report } from './asking-process.js';

const PROCESSES = 4;
const CALLS = 1000;
const RUNS = Number(process.env['RACE_RUNS'] ?? 100);
const RULES = [
  'token-bucket,5,1h',
  'fixed-window,5,365d',
  'sliding-window,5,1h',
  'sliding-window-counter,5,365d',
  'token-bucket,5,1h & fixed-window,9,365d & sliding-window,7,1h & sliding-window-counter,6,365d',
];

describeWithRedis('four processes that ask at once', () => {
  let server: RedisServer;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    const runner = join(__dirname, '../../support/typescript-child.cjs');
    for (let i = 0; i < PROCESSES; i++) {
      const url = `redis://127.0.0.1:${server.port}`;
      const file = join(__dirname, 'asking-process.ts');
      children.push(fork(runner, [file, url]));
    }
    await Promise.all(children.map((child) => once(child, 'message')));
  }, 60_000);

  afterAll(async () => {
    await Promise.all(children.map((child) => child.kill() && once(child, 'exit')));
    await server.stop();
  });

  async function race(rule: string, user: string): Promise<readonly Report[]> {
    const order: Order = { rule, user, calls: CALLS / PROCESSES };
    return Promise.all(
      children.map(async (child) => {
        const answer = once(child, 'message');
        child.send(order);
        return (await answer)[0] as Report;
      }),
    );
  }

  it.each(RULES)(
    'are let in five times of a thousand, in every run: %s',
    async (rule) => {
      const admitted: number[] = [];
      for (let run = 0; run < RUNS; run++) {
        const reports = await race(rule, `${rule} ${run}`);
        expect(reports.every(({ degraded }) => degraded === 0)).toBe(true);
        admitted.push(reports.reduce((sum, { allowed }) => sum + allowed, 0));
      }
      expect(admitted).toEqual(Array.from({ length: RUNS }, () => 5));
    },
    120_000,
  );
});
