import type { Decision } from '../../../../src/core/index.js';
import { describeWithRedis } from '../../../support/redis-server.js';
import { closeSite, LOGIN, OUTAGES, openSite, type Site } from './outages.js';
import { ALGORITHMS, CLIENTS, clientOf, expectNoWait, Shop, waitOf, wordsOf } from './support.js';

/** Longer than by default, so that a busy machine is no outage of its own. */
const TIMEOUT = 250;
const ALLOW = ALGORITHMS[0];
const DENY = 'fixed-window,5,365d,onStoreError=deny';
const LOCAL = 'sliding-window-counter,5,365d,onStoreError=local';
const KINDS = [...ALGORITHMS, DENY, LOCAL];

describeWithRedis('a Redis that worked', () => {
  let site: Site;

  beforeEach(async () => {
    site = await openSite();
  });
  afterEach(() => closeSite(site));

  const CASES = OUTAGES.flatMap((outage) => CLIENTS.map((client) => ({ ...outage, client })));

  it.each(CASES)('is $name, under $client', async ({ client, begin, end, empties }) => {
    const { server, proxy } = site;
    const shop = await Shop.open(clientOf(client, proxy.port, LOGIN), {
      timeoutMillis: TIMEOUT,
      instances: 3,
    });
    for (const rule of KINDS) expect(await shop.takes(2, rule)).toBe('yes, yes');
    const before = await shop.held(server);
    await begin(site);

    // As long as the breaker is closed nobody waits longer than the deadline.
    for (const rule of [...ALGORITHMS, LOCAL]) {
      const { answer, millis } = await waitOf(() => shop.take(rule), TIMEOUT);
      expect(wordsOf(answer)).toBe('~yes');
      expect(millis).toBeLessThanOrEqual(TIMEOUT + 10);
    }
    expect(shop.events).toEqual(['failed', 'breaker open']);

    // While it is open nobody waits at all.
    const asks = KINDS.map((rule) => () => shop.take(rule));
    await expectNoWait(asks, (answer, i) => expectWithout(KINDS[i]!, answer));

    // Half-open: of many who ask at once, one asks Redis.
    shop.skipSecond();
    const probe = waitOf(() => shop.take(ALLOW), TIMEOUT);
    await expectNoWait(asks, (answer, i) => expectWithout(KINDS[i]!, answer));
    expect(wordsOf((await probe).answer)).toBe('~yes');
    expect((await probe).millis).toBeLessThanOrEqual(TIMEOUT + 10);
    expect(shop.events.slice(2)).toEqual(['breaker half-open', 'breaker open']);

    await end(site);
    await shop.recovered();
    expect(shop.events.filter((event) => !event.startsWith('breaker'))).toEqual([
      'failed',
      'recovered',
    ]);
    // Nothing acted late, and nothing twice: Redis counts on from where it was.
    if (!empties) expect(await shop.held(server)).toEqual(before);
    const rest = empties ? 'yes, yes, yes, yes, yes, quota' : 'yes, yes, yes, quota';
    for (const rule of KINDS) expect(await shop.takes(empties ? 6 : 4, rule)).toBe(rest);
  });
});

/** Each rule as written; the local share of 5 among 3 instances is 1, and taken. */
function expectWithout(rule: string, decision: Decision): void {
  const words = { [DENY]: '~store', [LOCAL]: '~quota' }[rule] ?? '~yes';
  expect(wordsOf(decision)).toBe(words);
  if (rule !== DENY) return;
  expect(decision.retryAfterMillis).toBeGreaterThan(0);
  expect(decision.retryAfterMillis).toBeLessThanOrEqual(1000);
}
