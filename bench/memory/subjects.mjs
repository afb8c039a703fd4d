/*
 * The product and its peers behind one question: may this key? Each is asked in the cheapest way
 * that its public interface has. Those that answer with a promise are awaited one by one, as a
 * guard or a middleware has to; those that answer at once are not.
 */
import { createRequire } from 'node:module';
import { PRODUCT } from '../lib/rows.mjs';

const require = createRequire(import.meta.url);

export const CONTROL = 'control';
export const PEERS = {
  fastify: '@fastify/rate-limit',
  express: 'express-rate-limit',
  flexible: 'rate-limiter-flexible',
  throttler: '@nestjs/throttler',
  limiter: 'limiter',
};
export const PEER_NAMES = Object.values(PEERS);

/**
 * Makes a subject.
 *
 * @param options `{ limit, windowMillis, capacity }`, and for the product also `algorithm` and
 * `clock`
 * @returns `{ ask, isAsync }`; `ask(key)` is true, or a promise of true, when the key may
 */
export async function createSubject(name, options) {
  const make = MAKERS[name];
  if (!make) throw new Error(`There is no subject ${name}`);
  return { isAsync: false, ...(await make(options)) };
}

const MAKERS = {
  /** The loop and the making of the key, and nothing else. */
  [CONTROL]: () => ({ ask: (key) => key.length > 0 }),

  async [PRODUCT]({ limit, windowMillis, capacity, algorithm = 'token-bucket', clock }) {
    const { LimiterFactory, MemoryStore, SystemClock } = await import(
      '../../dist/esm/core/index.js'
    );
    const store = new MemoryStore({ maxKeys: capacity });
    const factory = new LimiterFactory(clock ?? new SystemClock(), store);
    const limiter = factory.createKeyed(`${algorithm},${limit},${windowMillis}ms`);
    return { ask: (key) => limiter.tryAcquire(key).allowed, store };
  },

  /** The store below the plugin; it is not exported by name, but it is what the plugin asks. */
  [PEERS.fastify]({ limit, windowMillis, capacity }) {
    const LocalStore = require('@fastify/rate-limit/store/LocalStore.js');
    const store = new LocalStore(false, false, capacity);
    let hits = 0;
    const told = (_error, { current }) => {
      hits = current;
    };
    const ask = (key) => {
      store.incr(key, told, windowMillis, limit);
      return hits <= limit;
    };
    return { ask };
  },

  async [PEERS.express]({ limit, windowMillis }) {
    const { MemoryStore } = await import('express-rate-limit');
    const store = new MemoryStore();
    store.init({ windowMs: windowMillis });
    return { isAsync: true, ask: async (key) => (await store.increment(key)).totalHits <= limit };
  },

  /** A refusal is a rejection here, so it has to be caught. */
  async [PEERS.flexible]({ limit, windowMillis }) {
    const { RateLimiterMemory } = await import('rate-limiter-flexible');
    const limiter = new RateLimiterMemory({ points: limit, duration: windowMillis / 1000 });
    const ask = async (key) => {
      try {
        await limiter.consume(key);
        return true;
      } catch {
        return false;
      }
    };
    return { isAsync: true, ask };
  },

  /** As its guard asks: a refused client is blocked for one window. */
  async [PEERS.throttler]({ limit, windowMillis, sweepMillis }) {
    const { ThrottlerStorageService } = await import('@nestjs/throttler');
    const storage = new ThrottlerStorageService();
    if (sweepMillis !== undefined) storage.sweepIntervalMs = sweepMillis;
    const ask = async (key) => {
      const asked = storage.increment(key, windowMillis, limit, windowMillis, 'default');
      return !(await asked).isBlocked;
    };
    return { isAsync: true, ask };
  },

  /** It limits one thing; for many keys one keeps a map of them. */
  async [PEERS.limiter]({ limit, windowMillis }) {
    const { RateLimiter } = await import('limiter');
    const limiters = new Map();
    const ask = (key) => {
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        limiter = new RateLimiter({ tokensPerInterval: limit, interval: windowMillis });
        limiters.set(key, limiter);
      }
      return limiter.tryRemoveTokens(1);
    };
    return { ask };
  },
};
