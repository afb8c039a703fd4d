import { storeContract } from 'nestjs-doorman/testing';
import { MemoryStore } from '../../src/core/index.js';
import type { RateLimitStore } from '../../src/core/store.js';
import { FAULTY, Wrapped } from './faulty-stores.js';

/** The names of the cases that a store fails, and what they say. */
async function failuresOf(create: () => RateLimitStore): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  for (const { name, run } of storeContract(create)) {
    await run().catch((error: Error) => failures.set(name, `${error.name}: ${error.message}`));
  }
  return failures;
}

describe('the contract of stores', () => {
  it('finds nothing wrong with a store that is only wrapped', async () => {
    expect(await failuresOf(() => new Wrapped())).toEqual(new Map());
  });

  it.each(FAULTY)('catches a store that %s', async (_what, Store, caught) => {
    const failures = await failuresOf(() => new Store());
    const found = [...failures].filter(([name]) => caught.test(name));
    expect([...failures.keys()]).toEqual(expect.arrayContaining([expect.stringMatching(caught)]));
    expect(found[0]![1]).toMatch(/^StoreContractError: .+\n {2}expected .+\n {2}got {6}.+$/);
  });

  it('has a name of its own for each case', () => {
    const names = storeContract(() => new MemoryStore()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('makes a store for each case and closes it, also where it fails', async () => {
    const log: string[] = [];
    class Watched extends Wrapped {
      override reset = async () => {
        throw new Error('no reset today');
      };
      override close() {
        log.push('closed');
      }
    }
    const create = async () => {
      log.push('made');
      return new Watched();
    };
    const cases = storeContract(create).filter(({ name }) => /reset makes/.test(name));
    for (const { run } of cases) await expect(run()).rejects.toThrow('no reset today');
    expect(log).toEqual(cases.flatMap(() => ['made', 'closed']));
  });
});
