import { type Decision, LimiterFactory, MemoryStore, SystemClock } from 'nestjs-doorman/core';

/* Compiled, never run: the declaration files of the core need no others. */

const factory = new LimiterFactory(new SystemClock(), new MemoryStore());
const logins = factory.createKeyed('sliding-window,2,1h');

export function login(name: string): Decision {
  return logins.tryAcquire(name);
}
