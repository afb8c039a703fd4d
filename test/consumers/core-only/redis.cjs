const { deepStrictEqual, rejects, strictEqual } = require('node:assert');
const { RateLimitStore } = require('nestjs-doorman/core');
const { RedisStore } = require('nestjs-doorman/redis');
const { storeContract } = require('nestjs-doorman/testing');

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
