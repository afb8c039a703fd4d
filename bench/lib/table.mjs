/* The rows as a table: in columns for a terminal, or as Markdown. */

const HEAD = ['work', 'subject', 'measured', 'ratio', 'goal', ''];

export function textTable(rows) {
  const lines = [HEAD, ...cellsOf(rows)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const format = (line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();
  const [head, ...body] = lines.map(format);
  return [head, '─'.repeat(head.length + 10), ...body].join('\n');
}

/** Numbers and ratios stand to the right. Padded as the formatter of the repository does. */
export function markdownTable(rows) {
  const lines = [HEAD, ...cellsOf(rows)];
  const widths = HEAD.map((_, column) => Math.max(3, ...lines.map((line) => line[column].length)));
  const right = (column) => column === 2 || column === 3;
  const format = (line) =>
    line.map((cell, i) => (right(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
  const rule = widths.map((width, i) =>
    right(i) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  const [head, ...body] = lines.map(format);
  return [head, rule, ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The name of a work stands on its first row only. */
function cellsOf(rows) {
  return rows.map((row, i) => [
    rows[i - 1]?.work === row.work ? '' : row.work,
    row.subject,
    `${number(row.value)} ${row.unit}`.trimEnd(),
    row.ratio === undefined ? '' : `${number(row.ratio)}×`,
    row.goal ?? '',
    row.goal === undefined ? '' : row.reached ? 'reached' : 'missed',
  ]);
}

function number(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
