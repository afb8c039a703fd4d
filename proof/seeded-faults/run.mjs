/*
 * node proof/seeded-faults/run.mjs [--only=text] [--check]
 *
 * Seeds faults that others have had into a copy of the project, one at a time, and runs the tests
 * that have to find it. Ends with 1 if one is not found, or if those tests fail without any fault.
 *
 * --only   faults whose name has this text
 * --check  says only whether each can be seeded: code moves on
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.mjs';
import { timesIn, Workshop } from './workshop.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const { values } = parseArgs({ options: { only: { type: 'string' }, check: { type: 'boolean' } } });
const faults = FAULTS.filter(({ name }) => name.includes(values.only ?? ''));

process.exitCode = (values.check ? check() : await seed()) ? 0 : 1;

async function seed() {
  const workshop = new Workshop(ROOT);
  workshop.open();
  let missed = 0;
  try {
    const sound = await workshop.test([...new Set(faults.flatMap(({ tests }) => tests))]);
    if (sound.failed > 0 || sound.broken) {
      throw new Error(`Without a fault fails: ${sound.first ?? sound.broken}`);
    }
    console.log(`sound: ${sound.passed} tests pass`);
    for (const fault of faults) {
      const { first, broken } = await workshop.with(fault.edits, () => workshop.test(fault.tests));
      if (first === undefined) missed++;
      console.log(`${first === undefined ? 'MISSED' : 'found '}  ${fault.name}`);
      console.log(`        ${first ?? broken ?? 'no test failed'}`);
    }
  } finally {
    workshop.close();
  }
  console.log(`${faults.length - missed} of ${faults.length} faults found`);
  return missed === 0;
}

function check() {
  const problems = faults.flatMap(({ name, edits, tests }) => [
    ...edits.filter((edit) => timesIn(ROOT, edit) !== 1).map((edit) => `${name}: ${edit.find}`),
    ...tests.filter((file) => !existsSync(join(ROOT, file))).map((file) => `${name}: ${file}`),
  ]);
  for (const problem of problems) console.log(problem);
  console.log(`${faults.length - problems.length} faults can be seeded`);
  return problems.length === 0;
}
