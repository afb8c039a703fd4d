/*
 * node bench/table.mjs: writes the results as tables, all of them into docs/benchmarks.md and those
 * with a goal into the README. With --check it only says whether both are of the present results.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readResults } from './lib/results.mjs';
import { markdownTable } from './lib/table.mjs';

const README = new URL('../README.md', import.meta.url);
const PAGE = new URL('../docs/benchmarks.md', import.meta.url);
const BLOCK = /(<!-- benchmarks -->\n)[\s\S]*(<!-- \/benchmarks -->)/;
const INTRO = `# Benchmarks

Made by \`npm run bench\`: the product and its peers side by side, in interleaved fresh processes, the
medians of the rounds. A ratio is how many times the product's figure that is; a goal against a peer
stands on the peer's row. Figures of a shared machine: ratios within a table hold to about a quarter,
single figures do not carry over to another.
`;

const { parts } = readResults();

function page() {
  const sections = Object.entries(parts).map(
    ([name, part]) => `## ${name}\n\n${markdownTable(part.rows)}\n\n${conditions(part)}\n`,
  );
  return [INTRO, ...sections].join('\n');
}

/** The rows with a goal, and of works with peers the product's own. */
function readmeBlock() {
  const sections = Object.values(parts).map((part) => {
    const works = new Set(part.rows.filter(({ goal }) => goal).map(({ work }) => work));
    const rows = part.rows.filter(
      ({ work, goal, subject }) => goal || (works.has(work) && subject === 'nestjs-doorman'),
    );
    return `${markdownTable(rows)}\n\n${conditions(part)}\n`;
  });
  return `\n${sections.join('\n')}\n`;
}

function conditions({ date, machine, node, versions }) {
  const used = Object.entries(versions).map(([peer, version]) => `${peer} ${version}`);
  return `${date.slice(0, 10)}, Node ${node}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.os}; ${used.join(', ')}.`;
}

const files = [
  [README, readFileSync(README, 'utf8').replace(BLOCK, `$1${readmeBlock()}$2`)],
  [PAGE, page()],
];
const stale = files.filter(([file, text]) => textOf(file) !== text);
if (process.argv[2] !== '--check') for (const [file, text] of stale) writeFileSync(file, text);
else if (stale.length > 0) {
  console.error('Not of the present results: run node bench/table.mjs');
  process.exit(1);
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
