import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

it('the tables of the documents are those of the last results', () => {
  const script = join(__dirname, '../../bench/table.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
