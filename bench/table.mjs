/* node bench/table.mjs: the results as Markdown, for the README. */
import { readResults } from './lib/results.mjs';
import { markdownTable } from './lib/table.mjs';

for (const [name, { date, machine, node, versions, rows }] of Object.entries(readResults().parts)) {
  const used = Object.entries(versions).map(([peer, version]) => `${peer} ${version}`);
  console.log(`### ${name}\n`);
  console.log(markdownTable(rows));
  console.log(
    `\n${date.slice(0, 10)}, Node ${node}, ${machine.cores} × ${machine.cpu}, ${machine.memoryGiB} GiB, ${machine.os}; ${used.join(', ')}.\n`,
  );
}
