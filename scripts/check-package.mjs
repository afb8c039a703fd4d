// What users get: builds and packs the package, looks into the tarball, and installs it into the
// small applications of test/consumers, each in an empty folder, as a user does.
//
// Needs `npm ci` before, and npm's registry. Prints a line for each check; exits 1 if one failed.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONSUMERS = join(ROOT, 'test', 'consumers');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const TEMP = mkdtempSync(join(tmpdir(), 'nestjs-doorman-package-'));
const TARBALL = join(TEMP, 'nestjs-doorman.tgz');

const STEP_MILLIS = 120_000;
const AT_A_TIME = 2;
const ENVIRONMENT = { NO_COLOR: '1', FORCE_COLOR: undefined, npm_config_update_notifier: 'false' };
const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts'];

/* The applications, and which of their npm scripts are checks. */
const APPLICATIONS = [
  {
    name: 'nest11-cjs',
    checks: {
      'types:node10': 'compiles with TypeScript 5.5 and the old resolution, node10',
      'types:node16': 'compiles with TypeScript 5.5 and node16, ioredis too',
      test: 'limits under ts-jest and supertest',
    },
  },
  {
    name: 'nest11-transports',
    testsOf: ['core-app.ts', 'core-suite.ts'].map((file) => join('e2e', 'transports', file)),
    checks: { test: 'limits on every transport, by the suite of this repository' },
  },
  {
    name: 'nest12-esm',
    checks: { build: 'compiles, declaration files too', test: 'limits over HTTP' },
  },
  {
    name: 'nest12-cjs',
    sourcesOf: 'nest12-esm',
    checks: { build: 'compiles', test: 'limits over HTTP' },
  },
  {
    name: 'mixed',
    checks: { build: 'compiles, the types of both as one', test: 'has one copy of every class' },
  },
  {
    name: 'core-only',
    install: ['--legacy-peer-deps'],
    checks: {
      imported: 'is imported without Nest',
      required: 'is required without Nest',
      'imported:redis': 'says which client of Redis to install, imported',
      'required:redis': 'says which client of Redis to install, required',
    },
  },
];

// Running and reporting

const startedAt = performance.now();
const running = new Set();
let passed = 0;
let failed = 0;

/** Runs a check and prints its line; answers whether it passed. A check fails by throwing. */
async function check(name, run) {
  const from = performance.now();
  let fault;
  try {
    await run();
    passed++;
  } catch (error) {
    fault = error;
    failed++;
  }
  const took = ((performance.now() - from) / 1000).toFixed(1);
  console.log(`${fault ? 'FAILED' : 'passed'}  ${name} (${took} s)`);
  if (fault) console.log(String(fault.message).replace(/^/gm, '        '));
  return fault === undefined;
}

/** What a command printed. Throws that, if it does not end with 0 in time. */
function run(command, args, cwd = ROOT) {
  return new Promise((resolve, reject) => {
    // In a group of its own, so that what it starts is ended with it.
    const child = spawn(command, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...ENVIRONMENT },
    });
    running.add(child);
    const printed = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8').on('data', (text) => {
        printed[stream] += text;
      });
    }
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end(child);
    }, STEP_MILLIS);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      if (code === 0) return resolve(printed.stdout);
      const how = late ? `not done after ${STEP_MILLIS / 1000} s` : `ended with ${code ?? signal}`;
      const line = [command, ...args].join(' ');
      reject(new Error(`${line}: ${how}\n${printed.stdout}${printed.stderr}`.trimEnd()));
    });
  });
}

function end(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function npm(args, cwd) {
  return run('npm', args, cwd);
}

/** The command-line program of a dependency of this repository. */
function tool(name, bin, args) {
  return run(process.execPath, [join(ROOT, 'node_modules', name, bin), ...args]);
}

function expectNone(list, what) {
  if (list.length > 0) throw new Error([`${what}:`, ...list].join('\n  '));
}

// The tarball

let packedFiles = [];

async function pack() {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', TEMP];
  const [{ filename, files }] = Object.values(JSON.parse(await npm(args)));
  renameSync(join(TEMP, filename), TARBALL);
  packedFiles = files.map(({ path }) => path).sort();
}

function holdsWhatItNeeds() {
  const needed = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'dist/cjs/package.json'];
  for (const { types, default: code } of Object.values(MANIFEST.exports).flatMap(Object.values)) {
    if (types) needed.push(types.replace('./', ''), code.replace('./', ''));
  }
  expectNone(
    needed.filter((path) => !packedFiles.includes(path)),
    'Missing',
  );
}

/** Each file of dist stands for one of src: no tests, no samples, nothing left of older builds. */
function holdsNothingElse() {
  const sources = new Set(listFiles(join(ROOT, 'src')));
  const beside = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'dist/cjs/package.json'];
  const strays = packedFiles.filter((path) => {
    if (beside.includes(path)) return false;
    const inner = /^dist\/(?:esm|cjs)\/(.+)$/.exec(path)?.[1];
    if (!inner || /\.(?:spec|test)\./.test(inner)) return true;
    const source = inner.replace(/\.(?:js|js\.map|d\.ts)$/, '.ts');
    return !sources.has(source);
  });
  expectNone(strays, 'Not from src (npm run clean, if an older build left them)');
}

/** What is not TypeScript is copied into both builds; but for scripts of Redis, which lua.ts holds. */
function holdsWhatIsCopied() {
  const copied = listFiles(join(ROOT, 'src')).filter((path) => !/\.(?:ts|lua)$/.test(path));
  const needed = copied.flatMap((path) => [`dist/esm/${path}`, `dist/cjs/${path}`]);
  expectNone(
    needed.filter((path) => !packedFiles.includes(path)),
    'In src, but not packed',
  );
}

/** A door to Redis that loads none of the clients, which are there to be chosen among. */
async function needsNoClient() {
  await run(process.execPath, [join(ROOT, 'scripts', 'embed-lua.mjs'), '--check']);
  const clients = Object.keys(MANIFEST.peerDependenciesMeta);
  const built = ['esm', 'cjs'].flatMap((kind) =>
    packedFiles.filter((path) => path.startsWith(`dist/${kind}/stores/redis/`)),
  );
  const code = built.filter((path) => /\.(?:js|d\.ts)$/.test(path));
  if (code.length === 0) throw new Error('No code of the Redis store is packed');
  const early = new RegExp(`^(?:import|export) .*from '(?:${clients.join('|')})'`, 'm');
  const required = new RegExp(`^(?:const|var) .*require\\("(?:${clients.join('|')})"\\)`, 'm');
  expectNone(
    code.filter((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return early.test(text) || required.test(text);
    }),
    'Imports a client at once',
  );
}

function dependsOnNothing() {
  const kinds = ['dependencies', 'optionalDependencies', 'bundleDependencies'];
  const hooks = ['preinstall', 'install', 'postinstall'];
  expectNone(
    kinds.flatMap((kind) => Object.keys(MANIFEST[kind] ?? {})),
    'Dependencies',
  );
  expectNone(
    hooks.filter((hook) => MANIFEST.scripts[hook]),
    'Scripts that run at the install',
  );
}

function listFiles(folder, prefix = '') {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    return entry.isDirectory() ? listFiles(join(folder, entry.name), `${path}/`) : [path];
  });
}

async function lintPackage() {
  const tarball = readFileSync(TARBALL);
  const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer } });
  const said = messages.map((message) => formatMessage(message, MANIFEST, { color: false }));
  expectNone(said, 'publint says');
}

async function checkTarball() {
  if (!(await check('package: builds', () => npm(['run', 'build'])))) return false;
  if (!(await check('package: packs', pack))) return false;
  await check('tarball: holds entry points, README, LICENSE and CHANGELOG', holdsWhatItNeeds);
  await check('tarball: holds nothing that is not from src', holdsNothingElse);
  await check('tarball: holds what is copied from src', holdsWhatIsCopied);
  await check('tarball: the Redis store loads no client before it needs one', needsNoClient);
  await check('tarball: depends on nothing and runs nothing at the install', dependsOnNothing);
  await check('tarball: attw reports nothing', () =>
    tool('@arethetypeswrong/cli', 'dist/index.js', ['--no-definitely-typed', TARBALL]),
  );
  await check('tarball: publint reports nothing', lintPackage);
  return true;
}

// The applications

async function checkApplication(application) {
  const folder = join(TEMP, application.name);
  await checkIn(folder, application);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function checkIn(folder, { name, sourcesOf, testsOf = [], install = [], checks }) {
  cpSync(join(CONSUMERS, name), folder, { recursive: true, filter: isSource });
  if (sourcesOf)
    cpSync(join(CONSUMERS, sourcesOf, 'src'), join(folder, 'src'), { recursive: true });
  for (const path of testsOf)
    cpSync(join(ROOT, 'test', path), join(folder, 'test', basename(path)));
  if (!(await check(`${name}: installs`, () => installIn(folder, install)))) return;
  for (const [script, what] of Object.entries(checks)) {
    const done = await check(`${name}: ${what}`, () => npm(['run', script], folder));
    // What did not compile does not run.
    if (!done && script === 'build') return;
  }
  if (name === 'core-only') await checkCoreOnly(folder);
}

function isSource(path) {
  return !/[\\/](?:node_modules|dist)$/.test(path);
}

async function installIn(folder, more) {
  const args = ['install', ...QUIET, '--no-package-lock', ...more];
  try {
    await npm([...args, '--prefer-offline'], folder);
  } catch {
    // The cache may be older than the versions asked for, and the registry may have had a hiccup.
    await npm(args, folder);
  }
}

/** Proves that the folder is as bare as its checks suppose. */
async function checkCoreOnly(folder) {
  await check('core-only: has only this package', () => {
    const installed = readdirSync(join(folder, 'node_modules')).filter((one) => one[0] !== '.');
    expectNone(
      installed.filter((one) => one !== MANIFEST.name),
      'Installed too',
    );
    const { resolve } = createRequire(join(folder, 'index.js'));
    const peers = Object.keys(MANIFEST.peerDependencies);
    expectNone(
      peers.filter((peer) => resolve.paths(peer).some((path) => existsSync(join(path, peer)))),
      `Found from ${folder}`,
    );
  });
  await check('core-only: compiles without types of Nest or Node', () =>
    tool('typescript', 'bin/tsc', ['-p', folder]),
  );
}

async function checkApplications() {
  const waiting = [...APPLICATIONS];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await checkApplication(next);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
}

process.on('exit', () => {
  for (const child of running) end(child);
  rmSync(TEMP, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

if (await checkTarball()) await checkApplications();
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(`\nDone in ${seconds} s\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
