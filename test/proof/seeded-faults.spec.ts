import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

describe('seeded faults', () => {
  const root = join(__dirname, '../..');

  it('each finds its place in the code, once, and names tests that are there', () => {
    const script = join(root, 'proof/seeded-faults/run.mjs');
    const told = execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect(told).toMatch(/^\d{2} faults can be seeded\n$/);
  });
});
