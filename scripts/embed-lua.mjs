// Puts the Lua scripts into a module, so that whoever bundles the package has them: run by the build.
// With --check it only says whether the module is of the present scripts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../src/stores/redis/scripts/', import.meta.url);
const ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-window-counter', 'sliding-window'];

/** One script for any entries, one for single counters of each algorithm, and the heartbeat. */
function scripts() {
  const every = Object.fromEntries(ALGORITHMS.map((name) => [name, lua(name)]));
  const singles = ALGORITHMS.map((name) => {
    // The log's steps are calls of Redis anyway, so its quick script is made of the general one's.
    const before =
      name === 'sliding-window' ? [lua('prelude'), every[name]] : [lua('single-prelude')];
    return [name, [...before, lua(`${name}-single`)].join('\n')];
  });
  return {
    decide: [lua('prelude'), ...Object.values(every), lua('decide')].join('\n'),
    singles: Object.fromEntries(singles),
    heartbeat: lua('heartbeat'),
  };
}

/** Without comments and indentation. */
function lua(name) {
  const lines = readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
    .join('\n');
}

function moduleText() {
  const { decide, singles, heartbeat } = scripts();
  const literal = JSON.stringify;
  const entries = Object.entries(singles).map(([name, text]) => `  '${name}': ${literal(text)},`);
  return `// Made of the files in scripts/ by scripts/embed-lua.mjs: change those.
import type { AlgorithmName } from '../../core/rule-fields.js';

export const DECIDE = ${literal(decide)};

export const SINGLE: Readonly<Record<AlgorithmName, string>> = {
${entries.join('\n')}
};

export const HEARTBEAT = ${literal(heartbeat)};
`;
}

const MODULE = fileURLToPath(new URL('../src/stores/redis/lua.ts', import.meta.url));

const isPresent = existsSync(MODULE) && readFileSync(MODULE, 'utf8') === moduleText();
if (process.argv[2] !== '--check') {
  // What is right is left alone: others may be reading it.
  if (!isPresent) writeFileSync(MODULE, moduleText());
} else if (!isPresent) {
  console.error('src/stores/redis/lua.ts is not of the present scripts: npm run build:lua');
  process.exit(1);
}
