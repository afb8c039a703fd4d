import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describeWithRedis, RedisServer } from '../../test/support/redis-server.js';
import { createAdapter } from '../src/adapter.js';
import { AppModule } from '../src/app.module.js';
import { createStore } from '../src/store.js';

describeWithRedis('the demo of three shops on one Redis', () => {
  it('lets in exactly the limit at all shops together, and ends what it started', async () => {
    const child = spawn('npm', ['run', '--silent', 'demo:cluster'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    const printed = await text(child.stdout);
    expect(printed).toMatch(/^3 shops count in redis:\/\/127\.0\.0\.1:\d+: 5 orders at once/);
    expect(printed).toMatch(/30 orders of \w+ at once, 10 at each shop:/);
    expect(printed.match(/http:\/\/127\.0\.0\.1:\d+ {2}served \d+, refused \d+/g)).toHaveLength(3);
    expect(printed).toMatch(/together +served 5, refused 25/);
    expect(printed).toContain('The sixth is told: 429, Retry-After: 2');
    expect(await closed).toBe(0);

    const urls = [...printed.matchAll(/http:\/\/[\d.:]+/g)].map(([url]) => url);
    expect(urls).toHaveLength(3);
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  }, 180_000);
});

describe('the store of the shop', () => {
  it('is in memory unless told, and in Redis when told', async () => {
    expect(createStore({}).name).toBe('memory');
    const store = createStore({ STORE: 'redis', REDIS_URL: 'redis://127.0.0.1:1' });
    expect(store.name).toBe('redis');
    await store.close();
    expect(() => createStore({ STORE: 'mysql' })).toThrow('STORE is memory or redis, got "mysql"');
  });
});

describeWithRedis('shops of both adapters with STORE=redis', () => {
  const opened: INestApplication[] = [];
  const before = { ...process.env };
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
    const url = `redis://127.0.0.1:${server.port}`;
    Object.assign(process.env, { STORE: 'redis', REDIS_URL: url, REDIS_TIMEOUT_MILLIS: '2000' });
  });

  afterAll(async () => {
    await Promise.all(opened.map((app) => app.close()));
    process.env = before;
    await server.stop();
  });

  it('count as one', async () => {
    for (const adapter of ['express', 'fastify']) {
      const app = await NestFactory.create(AppModule, createAdapter(adapter), { logger: false });
      opened.push(app);
      await app.listen(0, '127.0.0.1');
    }
    const urls = await Promise.all(opened.map((app) => app.getUrl()));
    const order = (i: number) =>
      fetch(`${urls[i % 2]}/orders`, {
        method: 'POST',
        headers: { authorization: 'Bearer alice' },
      });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => order(i)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
    expect(await server.send('KEYS', 'shop:{*')).toHaveLength(3);
  });
});
