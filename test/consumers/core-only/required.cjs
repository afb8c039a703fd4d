const { deepStrictEqual } = require('node:assert');
const { LimiterFactory, MemoryStore, SystemClock } = require('nestjs-doorman/core');

const factory = new LimiterFactory(new SystemClock(), new MemoryStore());
const logins = factory.createKeyed('sliding-window,2,1h');
const allowed = ['alice', 'alice', 'alice', 'bob'].map((key) => logins.tryAcquire(key).allowed);
deepStrictEqual(allowed, [true, true, false, true]);
