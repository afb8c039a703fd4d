/* Requests without a network: into the framework's own entrance, from a thousand addresses. */
import inject from 'light-my-request';
import { ownMillis, turn } from '../lib/time.mjs';
import { createApp } from './apps.mjs';

const CLIENTS = 1000;
const BATCH = 250;
const REQUESTS = Array.from({ length: CLIENTS }, (_, i) => ({
  method: 'GET',
  url: '/hello',
  remoteAddress: `10.0.${i >> 8}.${i & 255}`,
}));

/**
 * Microseconds a request, of this thread's own time: the lower quartile of many small batches. What
 * else uses the machine's caches makes batches slower and never faster, and differences between
 * subjects are small beside a whole request.
 *
 * @param refusing whether every request after a client's first has to be refused
 */
export async function microsEach(platform, limiter, refusing, scale) {
  const app = await createApp(platform, limiter);
  const instance = app.getHttpAdapter().getInstance();
  const send =
    platform === 'fastify'
      ? (request) => instance.inject(request)
      : (request) => inject(instance, request);
  // Also proves that the addresses arrive: else the second client would be refused.
  for (const request of REQUESTS) expectStatus(await send(request), 200);
  const expected = refusing ? 429 : 200;
  await batches(send, expected, 1000 * scale);
  return lowerQuartile(await batches(send, expected, 1500 * scale));
}

async function batches(send, expected, millis) {
  const micros = [];
  let next = 0;
  for (const end = ownMillis() + millis; ownMillis() < end; ) {
    const began = ownMillis();
    for (let i = 0; i < BATCH; i++) {
      expectStatus(await send(REQUESTS[next]), expected);
      next = (next + 1) % CLIENTS;
      // As for real requests the event loop goes round: until it has, all that a request used stays
      // in memory, and collecting garbage would be most of what is measured.
      await turn();
    }
    micros.push(((ownMillis() - began) * 1000) / BATCH);
  }
  return micros;
}

function expectStatus({ statusCode, payload }, expected) {
  if (statusCode !== expected)
    throw new Error(`${expected} expected, got ${statusCode} ${payload}`);
}

function lowerQuartile(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 2];
}
