import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { RateLimitStore } from 'nestjs-doorman/core';
import { RedisStore } from 'nestjs-doorman/redis';
import { storeContract } from 'nestjs-doorman/testing';

/* No client of Redis is installed: the store can be made, decides without Redis, and says why. */
async function main() {
  const store = new RedisStore({ url: 'redis://127.0.0.1:6379' }, { prefix: 'shop' });
  strictEqual(store instanceof RateLimitStore, true);
  const said = [];
  store.onEvent((event) => event.type === 'failed' && said.push(event.error.message));
  // The contract asks for us, and finds that Redis decided nothing.
  const asks = storeContract(() => store).find(({ name }) => name.startsWith('golden trace'));
  await rejects(asks.run(), { name: 'StoreContractError' });
  deepStrictEqual(said, ['The Redis store needs a client library: npm install ioredis']);
}

void main();
