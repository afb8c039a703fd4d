import { SystemClock } from '../../src/core/clock.js';
import { SteadyClock } from '../../src/core/steady-clock.js';

/** Sleeps once, with nothing else to do. */
const [name, millis, kind] = process.argv.slice(3);
const system = new SystemClock();
const clock = name === 'steady' ? SteadyClock.over(system) : system;

process.stdout.write('asleep');
void clock
  .sleep(Number(millis), undefined, { background: kind === 'background' })
  .then(() => process.stdout.write(' woke'));
