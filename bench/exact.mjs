/*
 * node bench/exact.mjs [steps] [--evictions] [--seed=1]
 *
 * Random decisions of the product's keyed limiter, each compared with a model in big integers:
 * whether it is allowed, what remains and how long to wait. `steps` for each algorithm, 10^7 by
 * default. Ends with 1 if any differs.
 *
 * --evictions: many more keys than there is room for. Then a key below its limit may be forgotten,
 * but one at its limit may get nothing more than the model says, unless the store has counted it
 * in `evictedAtLimit`.
 */
import { parseArgs } from 'node:util';
import { LimiterFactory, MemoryStore } from '../dist/esm/core/index.js';
import { FakeClock } from '../dist/esm/testing/index.js';
import { CrowdedRun } from './exact/crowded-run.mjs';
import { MODELS } from './exact/model.mjs';
import { Random } from './exact/random.mjs';
import { RoomyRun } from './exact/roomy-run.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { evictions: { type: 'boolean' }, seed: { type: 'string', default: '1' } },
});
const steps = Number(positionals[0] ?? 1e7);
const STEPS_A_RULE = values.evictions ? 20_000 : 1000;
/** A year 2400 is as exact as today. */
const LATEST_START = 13_569_465_600_000;

let failed = false;
for (const algorithm of Object.keys(MODELS)) {
  const { differing, first, told } = runAlgorithm(algorithm);
  console.log(`${algorithm} ${steps} steps, ${differing} differ${told}`);
  if (differing === 0) continue;
  failed = true;
  console.log(`  the first: ${first}`);
}
process.exitCode = failed ? 1 : 0;

function runAlgorithm(algorithm) {
  const random = new Random(Number(values.seed) * 7919 + algorithm.length);
  const Run = values.evictions ? CrowdedRun : RoomyRun;
  let differing = 0;
  let first;
  let evicted = 0;
  let atLimit = 0;
  for (let done = 0; done < steps; done += STEPS_A_RULE) {
    const rule = Run.rule(random, algorithm);
    const clock = new FakeClock(random.whole(0, LATEST_START));
    const store = new MemoryStore({ maxKeys: Run.maxKeys });
    const limiter = new LimiterFactory(clock, store).createKeyed(rule.text);
    const run = new Run({ random, rule, clock, store, limiter, Model: MODELS[algorithm] });
    for (let i = 0; i < Math.min(STEPS_A_RULE, steps - done); i++) {
      const problem = run.step();
      if (problem === undefined) continue;
      differing++;
      first ??= `${rule.text}, step ${i}: ${problem}`;
      break; // whatever follows under this rule may differ because of this
    }
    evicted += store.evicted;
    atLimit += store.evictedAtLimit;
    if (!values.evictions && store.evicted > 0) throw new Error('The store was too small');
  }
  const told = values.evictions ? ` (${evicted} evicted, ${atLimit} of them at their limit)` : '';
  return { differing, first, told };
}
