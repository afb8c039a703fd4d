import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * How often the text of an edit stands in its file.
 *
 * @param {string} root
 * @param {import('./faults.mjs').Edit} edit
 */
export function timesIn(root, { file, find }) {
  return readFileSync(join(root, file), 'utf8').split(find).length - 1;
}

/**
 * A copy of the project inside of it, so that it finds the same packages: what is broken here harms
 * nobody, and jest knows it again from one run to the next.
 */
export class Workshop {
  /** @param {string} root the project's folder */
  constructor(root) {
    this.root = root;
    this.folder = join(root, '.proof', 'copy');
  }

  /** Takes what git knows, as it lies in the folder now. */
  open() {
    rmSync(this.folder, { recursive: true, force: true });
    const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
      cwd: this.root,
      encoding: 'utf8',
    });
    // A second biome.json below the first is a fault to Biome.
    const files = listed.split('\0').filter((name) => name !== '' && name !== 'biome.json');
    for (const file of files) {
      const to = join(this.folder, file);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(join(this.root, file), to);
    }
  }

  close() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Makes the edits, calls `work`, takes them back.
   *
   * @template T
   * @param {import('./faults.mjs').Edit[]} edits
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async with(edits, work) {
    const before = new Map();
    for (const edit of edits) {
      const { file, find, replace } = edit;
      if (timesIn(this.folder, edit) !== 1) throw new Error(`${file} has not once: ${find}`);
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      writeFileSync(path, text.split(find).join(replace));
    }
    await this.embedScripts(edits);
    try {
      return await work();
    } finally {
      for (const [path, text] of before) writeFileSync(path, text);
      await this.embedScripts(edits);
    }
  }

  /**
   * Runs test files.
   *
   * @param {readonly string[]} tests
   * @returns {Promise<{ passed: number, failed: number, first: string | undefined, broken: string | undefined }>}
   */
  async test(tests) {
    const report = join(this.root, '.proof', 'report.json');
    rmSync(report, { force: true });
    const jest = join(this.root, 'node_modules', 'jest', 'bin', 'jest.js');
    const flags = ['--ci', '--silent', '--forceExit', '--json', `--outputFile=${report}`];
    await this.run([jest, ...flags, '--runTestsByPath', ...tests]);
    const told = JSON.parse(readFileSync(report, 'utf8'));
    const results = told.testResults.flatMap((file) => file.assertionResults);
    const failing = results.find((one) => one.status === 'failed');
    const broken = told.testResults.find((file) => file.assertionResults.length === 0);
    return {
      passed: told.numPassedTests,
      failed: told.numFailedTests,
      first: failing?.fullName,
      broken: broken?.message,
    };
  }

  /** Scripts for Redis are embedded into a module. */
  async embedScripts(edits) {
    if (!edits.some(({ file }) => file.endsWith('.lua'))) return;
    await this.run([join('scripts', 'embed-lua.mjs')]);
  }

  run(args) {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, args, { cwd: this.folder, stdio: 'ignore' });
      child.on('error', reject);
      child.on('close', resolve);
    });
  }
}
