/* bench/results.json: what was measured last, part by part, and on what. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

const FILE = new URL('../results.json', import.meta.url);

export function readResults() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return { parts: {} };
    throw error;
  }
}

/** Replaces what one part measured (`{ seconds, rounds, rows }`), and leaves the others as they are. */
export function storePart(name, measured) {
  const results = readResults();
  results.parts[name] = {
    date: new Date().toISOString(),
    machine: machine(),
    node: process.versions.node,
    versions: versions(),
    ...measured,
  };
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

function machine() {
  const cores = cpus();
  return {
    cpu: cores[0]?.model ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()}`,
  };
}

const HERE = new URL('../', import.meta.url);
const REPOSITORY = new URL('../../', import.meta.url);

/** Of the product, of every peer, and of the frameworks they run in. */
function versions() {
  const peers = Object.keys(readJson(new URL('package.json', HERE)).dependencies);
  const frameworks = ['@nestjs/core', 'fastify', 'express'];
  return {
    'nestjs-doorman': readJson(new URL('package.json', REPOSITORY)).version,
    ...versionsIn(HERE, peers),
    ...versionsIn(REPOSITORY, frameworks),
  };
}

function versionsIn(folder, names) {
  const version = (name) => readJson(new URL(`node_modules/${name}/package.json`, folder)).version;
  return Object.fromEntries(names.map((name) => [name, version(name)]));
}

function readJson(url) {
  return JSON.parse(readFileSync(url, 'utf8'));
}
