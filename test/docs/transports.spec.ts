import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURE_NAMES, isCovered, TRANSPORT_NAMES } from '../e2e/transports/core-suite.js';

const TEXT = readFileSync(join(__dirname, '../../docs/transports.md'), 'utf8');
const [, COVERED] = TEXT.split('\n## ') as [string, string];

/** What a cell says: of both versions of Nest, of one, or of none. */
function cellOf(
  transport: (typeof TRANSPORT_NAMES)[number],
  feature: (typeof FEATURE_NAMES)[number],
): string {
  const versions = ([11, 12] as const).filter((nest) => isCovered(transport, feature, nest));
  return versions.length === 2 ? 'yes' : versions.length === 1 ? `Nest ${versions}` : '–';
}

it('the table of transports says what the suite shows, cell by cell', () => {
  const table = COVERED.split('\n').filter((line) => line.startsWith('|'));
  const rows = table.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const [head, , ...body] = rows;
  expect(head).toEqual(['', ...FEATURE_NAMES.map((name) => name.replace(/^(.*[@=].*)$/, '`$1`'))]);
  expect(body).toEqual(
    TRANSPORT_NAMES.map((transport) => [
      transport,
      ...FEATURE_NAMES.map((feature) => cellOf(transport, feature)),
    ]),
  );
});
