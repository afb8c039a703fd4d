import { fileURLToPath } from 'node:url';
import { endAll, freePort, killAll, startProcess } from './processes.js';

/*
 * Three shops as processes of their own, on one Redis. Each user may order five times at once, and
 * once every 2 s after that: at all shops together. Exits with 1 when the count is wrong.
 */

const SHOPS = 3;
const ORDERS = 30;
const LIMIT = 5;
/** The bucket earns the next one after 2 s: a burst that takes long proves nothing. */
const BURST_MILLIS = 1000;
const LONGEST_MILLIS = 20_000;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

interface Answer {
  readonly shop: number;
  readonly status: number;
  readonly retryAfter: string | null;
}

async function startRedis(): Promise<string> {
  const port = await freePort();
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  for (const program of ['redis-server', 'valkey-server']) {
    try {
      await startProcess([program, ...options], /ready to accept connections/i);
      return `redis://127.0.0.1:${port}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error(
    'This demo needs redis-server or valkey-server on the PATH, and found neither. ' +
      'On Debian or Ubuntu: apt-get install redis-server',
  );
}

/** Answers when the shop's store is connected: until then nothing is counted, nor told in headers. */
async function startShop(redis: string): Promise<string> {
  const environment = { PORT: '0', STORE: 'redis', REDIS_URL: redis, REDIS_TIMEOUT_MILLIS: '1500' };
  const url = await startProcess([process.execPath, MAIN], /open at (\S+)/, environment);
  for (;;) {
    const { headers } = await fetch(`${url}/orders`, { headers: bearer('nobody-in-particular') });
    if (headers.has('ratelimit')) return url;
  }
}

const bearer = (user: string) => ({ authorization: `Bearer ${user}` });

/** All at once, in turn at each shop. */
function burst(shops: readonly string[], user: string): Promise<Answer[]> {
  const order = async (_: unknown, i: number): Promise<Answer> => {
    const shop = i % shops.length;
    const options = { method: 'POST', headers: bearer(user) };
    const { status, headers } = await fetch(`${shops[shop]}/orders`, options);
    return { shop, status, retryAfter: headers.get('retry-after') };
  };
  return Promise.all(Array.from({ length: ORDERS }, order));
}

/** Prints who served how many; answers whether the count is right. */
function report(shops: readonly string[], user: string, answers: readonly Answer[]): boolean {
  const count = (status: number, among = answers) =>
    among.filter((answer) => answer.status === status).length;
  console.log(`\n${ORDERS} orders of ${user} at once, ${ORDERS / SHOPS} at each shop:`);
  for (const [i, url] of shops.entries()) {
    const own = answers.filter(({ shop }) => shop === i);
    console.log(`  ${url}  served ${count(201, own)}, refused ${count(429, own)}`);
  }
  const served = count(201);
  const hint = answers.find(({ status }) => status === 429)?.retryAfter;
  console.log(`  together              served ${served}, refused ${count(429)}`);
  console.log(`\nThe sixth is told: 429, Retry-After: ${hint ?? 'nothing'}`);
  const right = served === LIMIT && count(429) === ORDERS - LIMIT && hint === '2';
  console.log(right ? `Right: exactly ${LIMIT}.` : `WRONG: it should be ${LIMIT}, and 2 s.`);
  return right;
}

async function demo(): Promise<boolean> {
  const redis = await startRedis();
  const shops = await Promise.all(Array.from({ length: SHOPS }, () => startShop(redis)));
  console.log(`${SHOPS} shops count in ${redis}: ${LIMIT} orders at once for each user.`);
  for (const user of ['alice', 'bob', 'carol']) {
    const from = performance.now();
    const answers = await burst(shops, user);
    if (performance.now() - from < BURST_MILLIS) return report(shops, user, answers);
    console.log(`The burst of ${user} took too long to prove anything.`);
  }
  throw new Error('This machine is too busy for this demo.');
}

function late(): void {
  console.error(`Not done after ${LONGEST_MILLIS / 1000} s: giving up.`);
  process.exit(1);
}

process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
const timer = setTimeout(late, LONGEST_MILLIS);
try {
  process.exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await endAll();
  clearTimeout(timer);
}
