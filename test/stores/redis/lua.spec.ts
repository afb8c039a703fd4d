import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

it('the scripts in the package are those of the Lua files', () => {
  const script = join(__dirname, '../../../scripts/embed-lua.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
