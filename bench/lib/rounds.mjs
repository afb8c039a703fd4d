/*
 * Interleaved rounds: in each round every subject runs once, in a fresh process, and every other
 * round in reverse order. So what the machine does meanwhile meets all alike.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./child.mjs', import.meta.url));
// Unbounded peers keep gigabytes under a flood; the default heap would end them.
const EXEC_ARGV = ['--expose-gc', '--max-old-space-size=6144', '--no-warnings'];

/**
 * Measures a suite's subjects.
 *
 * @param suite `{ url, subjects, rounds, budgetSeconds }`; a subject is a name, or a name and the
 * number of rounds in which it takes part. No round begins that would probably end far beyond the
 * budget.
 */
export async function runRounds({ url, subjects, rounds, budgetSeconds }, { scale, log }) {
  const results = new Map();
  const began = Date.now();
  let done = 0;
  const fits = () => ((Date.now() - began) / done) * (done + 0.5) < budgetSeconds * 1000;
  while (done < rounds && (done === 0 || fits())) {
    const taking = subjects.map(named).filter((subject) => done < subject.rounds);
    for (const { name } of done % 2 === 0 ? taking : taking.reverse()) {
      log(`round ${done + 1} of ${rounds}: ${name}`);
      const result = await inFreshProcess(url, name, scale);
      results.set(name, [...(results.get(name) ?? []), result]);
    }
    done++;
  }
  return new Results(results);
}

function named(subject) {
  return typeof subject === 'string' ? { name: subject, rounds: Infinity } : subject;
}

function inFreshProcess(url, subject, scale) {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [url, subject, String(scale)], {
      execArgv: EXEC_ARGV,
      // Frameworks talk on stdout; only what goes wrong is of interest.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    let result;
    child.on('message', (message) => {
      result = message;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (result !== undefined) resolve(result);
      else reject(new Error(`${subject} ended with ${signal ?? code} and no result`));
    });
  });
}

/** What every subject measured in every round. */
export class Results {
  constructor(bySubject) {
    this.bySubject = bySubject;
  }

  /** How many rounds there were; budgets end them early on a busy machine. */
  get rounds() {
    return Math.max(...[...this.bySubject.values()].map((results) => results.length));
  }

  /** The median over the rounds of one number of a subject. */
  median(subject, field) {
    return median(this.all(subject, field));
  }

  /** The median of its distance to the same number of another subject in the same round. */
  medianOver(subject, base, field) {
    const bases = this.all(base, field);
    return median(this.all(subject, field).map((value, round) => value - bases[round]));
  }

  all(subject, field) {
    return this.bySubject.get(subject).map((result) => result[field]);
  }
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
