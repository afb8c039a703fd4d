/*
 * npm run bench [-- memory] [-- guard] [-- redis]: measures the built product and its peers side by side,
 * prints one table with the goals, and keeps it in bench/results.json.
 *
 * --scale=0.01 does a hundredth of the work, to try the benchmark itself: nothing is stored then.
 * --suite=hot-key runs one suite of a part, and stores nothing either.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { storePart } from './lib/results.mjs';
import { runRounds } from './lib/rounds.mjs';
import { textTable } from './lib/table.mjs';

/** The suites of each part, in the order of their rows. */
const PARTS = {
  memory: ['hot-key', 'zipf', 'million', 'stops', 'ten-million', 'flood', 'sliding-log'],
  guard: ['fastify', 'express'],
  redis: ['throughput', 'memory'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '1' }, suite: { type: 'string' } },
});
const scale = Number(values.scale);
const parts = positionals.length > 0 ? positionals : Object.keys(PARTS);
const unknown = parts.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0 || !(scale > 0)) {
  console.error('usage: npm run bench -- [memory] [guard] [redis] [--scale=1] [--suite=NAME]');
  process.exit(2);
}

prepare();
for (const part of parts) await runPart(part);

function prepare() {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  if (!existsSync(new URL('../dist/esm/index.js', import.meta.url))) {
    console.error('There is no dist: run npm run build first.');
    process.exit(2);
  }
  if (existsSync(new URL('node_modules', import.meta.url))) return;
  console.error('Installing the peers in bench/node_modules.');
  execFileSync('npm', ['ci', '--silent', '--no-audit', '--no-fund'], { cwd: folder });
}

async function runPart(part) {
  const began = Date.now();
  const suites = PARTS[part].filter((name) => !values.suite || name === values.suite);
  const rows = [];
  const rounds = {};
  for (const name of suites) {
    const url = new URL(`./${part}/${name}.mjs`, import.meta.url).href;
    const suite = await import(url);
    const log = (text) => progress(`${part}, ${name}, ${text}`);
    const results = await runRounds({ url, ...suite }, { scale, log });
    rows.push(...suite.report(results));
    rounds[name] = results.rounds;
  }
  progress('');
  const seconds = (Date.now() - began) / 1000;
  console.log(`${part} (${Math.round(seconds)} s)\n\n${textTable(rows)}\n`);
  const goals = rows.filter(({ goal }) => goal !== undefined);
  const reached = goals.filter((row) => row.reached).length;
  console.log(`${reached} of ${goals.length} goals reached; rounds: ${roundsText(rounds)}.\n`);
  if (scale === 1 && !values.suite) storePart(part, { seconds: Math.round(seconds), rounds, rows });
}

function roundsText(rounds) {
  return Object.entries(rounds)
    .map(([suite, count]) => `${suite} ${count}`)
    .join(', ');
}

/** One line that is written over, on a terminal; nothing in a log. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
