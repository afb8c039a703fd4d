import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** The longest file and function, in lines. */
const LONGEST_FILE = 220;
const LONGEST_FUNCTION = 60;

const ROOT = join(__dirname, '..');

const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** What the package may import of others: its peers, and nothing else. */
const [OPTIONAL, PEERS] = [true, false].map((optional) =>
  Object.keys(MANIFEST.peerDependencies).filter(
    (name) => (MANIFEST.peerDependenciesMeta[name]?.optional ?? false) === optional,
  ),
) as [string[], string[]];

/** The one folder that knows each package which a user may not have. */
const KNOWN_IN: Readonly<Record<string, readonly string[]>> = {
  'stores/redis/clients/': ['ioredis', 'iovalkey', 'redis'],
  'nest/transports/': ['@nestjs/microservices', '@nestjs/websockets'],
};

interface Room {
  /** The rooms it may import from, itself aside. */
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  readonly node: boolean;
}

/** Every room of the house, and what its files may import. A room that is not here may not be. */
const ROOMS: Readonly<Record<string, Room>> = {
  core: { rooms: [], packages: [], node: false },
  http: { rooms: ['core'], packages: [], node: false },
  stores: { rooms: ['core'], packages: [], node: true },
  nest: { rooms: ['core', 'http'], packages: PEERS, node: true },
  testing: { rooms: ['core'], packages: [], node: false },
  // The front door.
  '.': { rooms: ['core', 'http', 'nest'], packages: [], node: false },
};

/**
 * A door also hands out what the room behind it does not know; and while Redis is away, its rules
 * count in memory.
 */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  'core/index.ts': ['stores'],
  'stores/redis/degraded.ts': ['stores'],
};

/** Rooms whose files never come in by the door of core: they stand behind it. */
const BEHIND_THE_DOOR = ['core', 'stores'];

const ALGORITHMS = [
  'token-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-window-log',
  'sliding-window-counter',
];

/** Text of files by their path in src. */
type Files = ReadonlyMap<string, string>;
/** Whatever breaks a rule of the house, a line each. */
type Rule = (files: Files) => string[];

interface Import {
  readonly from: string;
  /** As it is written. */
  readonly specifier: string;
  /** The path in src of a relative import. */
  readonly to: string | undefined;
  readonly typeOnly: boolean;
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** What a node imports: an import, an export from, `import()`, `require()` or an import type. */
function importedBy(node: ts.Node): { specifier: ts.Node; typeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    return { specifier: node.moduleSpecifier, typeOnly: isTypeOnly(node.importClause) };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    const { exportClause: clause } = node;
    const named = clause && ts.isNamedExports(clause) ? clause.elements : undefined;
    return {
      specifier: node.moduleSpecifier,
      typeOnly: node.isTypeOnly || (named?.every((element) => element.isTypeOnly) ?? false),
    };
  }
  if (ts.isImportTypeNode(node)) return { specifier: node.argument, typeOnly: true };
  const isCall = ts.isCallExpression(node) && node.arguments[0] !== undefined;
  if (!isCall) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  return isImport || isRequire ? { specifier: node.arguments[0]!, typeOnly: false } : undefined;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const { name, namedBindings } = clause;
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((one) => one.isTypeOnly);
}

function importsOf(files: Files): Import[] {
  const imports: Import[] = [];
  for (const [from, text] of files) {
    walk(parse(from, text), (node) => {
      const found = importedBy(node);
      if (!found) return;
      const specifier = found.specifier.getText().replace(/^['"`]|['"`]$/g, '');
      const to = specifier.startsWith('.')
        ? posix.normalize(posix.join(posix.dirname(from), specifier)).replace(/\.js$/, '.ts')
        : undefined;
      imports.push({ from, specifier, to, typeOnly: found.typeOnly });
    });
  }
  return imports;
}

/** `core` of `core/algorithms/index.ts`, `.` of `index.ts`. */
function roomOf(path: string): string {
  const [room = '.', ...rest] = path.split('/');
  return rest.length === 0 ? '.' : room;
}

/** `stores/memory` of `stores/memory/memory.store.ts`: stores do not know each other. */
function cellOf(path: string): string {
  const parts = path.split('/');
  return parts[0] === 'stores' ? parts.slice(0, 2).join('/') : roomOf(path);
}

const arrow = ({ from, specifier }: Import) => `${from} → ${specifier}`;

// The rules

const everyFileHasARoom: Rule = (files) => [...files.keys()].filter((path) => !ROOMS[roomOf(path)]);

const arrowsPointOneWay: Rule = (files) =>
  importsOf(files)
    .filter(({ from, to }) => {
      if (to === undefined || cellOf(from) === cellOf(to)) return false;
      const allowed = [...(ROOMS[roomOf(from)]?.rooms ?? []), ...(DOORS[from] ?? [])];
      return !allowed.includes(roomOf(to));
    })
    .map(arrow);

const importsExist: Rule = (files) =>
  importsOf(files)
    .filter(
      ({ specifier, to }) => to !== undefined && !(specifier.endsWith('.js') && files.has(to)),
    )
    .map(arrow);

const nobodyBehindTheDoorUsesIt: Rule = (files) =>
  importsOf(files)
    .filter(({ from, to }) => to === 'core/index.ts' && BEHIND_THE_DOOR.includes(roomOf(from)))
    .map(arrow);

const packagesArePeers: Rule = (files) =>
  importsOf(files)
    .filter(({ from, specifier, to }) => {
      if (to !== undefined) return false;
      const room = ROOMS[roomOf(from)];
      if (specifier.startsWith('node:')) return !room?.node;
      const folder = Object.keys(KNOWN_IN).find((path) => from.startsWith(path));
      const optional = folder === undefined ? [] : KNOWN_IN[folder]!;
      return !room?.packages.includes(specifier) && !optional.includes(specifier);
    })
    .map(arrow);

const noCycles: Rule = (files) => {
  const next = new Map<string, string[]>();
  for (const { from, to, typeOnly } of importsOf(files)) {
    if (to !== undefined && !typeOnly) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) found.push([...way.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const to of next.get(path) ?? []) visit(to, [...way, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return found;
};

const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

const isAlgorithm = (node: ts.Expression): boolean => {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) {
    return isAlgorithm(node.expression);
  }
  return ts.isStringLiteralLike(node) && ALGORITHMS.includes(node.text);
};

const onlyAlgorithmsKnowAlgorithms: Rule = (files) => {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (path.startsWith('core/algorithms/')) continue;
    walk(parse(path, text), (node) => {
      const compares =
        ts.isBinaryExpression(node) &&
        COMPARISONS.has(node.operatorToken.kind) &&
        [node.left, node.right].some(isAlgorithm);
      const isCase = ts.isCaseClause(node) && isAlgorithm(node.expression);
      if (compares) found.push(`${path}: ${node.getText()}`);
      if (isCase) found.push(`${path}: case ${node.expression.getText()}`);
    });
  }
  return found;
};

const filesAreShort: Rule = (files) =>
  [...files]
    .map(([path, text]) => [path, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines > LONGEST_FILE)
    .map(([path, lines]) => `${path}: ${lines} lines`);

const functionsAreShort: Rule = (files) => {
  const found: string[] = [];
  for (const [path, text] of files) {
    const source = parse(path, text);
    const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
    walk(source, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
      const [first, last] = [lineOf(node.getStart()), lineOf(node.getEnd())];
      const lines = last - first + 1;
      if (lines > LONGEST_FUNCTION) found.push(`${path}:${first}: ${lines} lines`);
    });
  }
  return found;
};

/** The files of the package. */
const src: Files = new Map(
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(join(ROOT, 'src', path), 'utf8')]),
);

const RULES: Readonly<Record<string, Rule>> = {
  'every file has a room': everyFileHasARoom,
  'arrows point one way: nest to http and core, http and stores to core': arrowsPointOneWay,
  'a relative import names a file that is there, with .js': importsExist,
  'nobody in core or stores comes in by the door of core': nobodyBehindTheDoorUsesIt,
  'nothing but peers and node: is imported, in nest alone; stores may use node:; optional peers have one folder':
    packagesArePeers,
  'no files import each other in a circle, types aside': noCycles,
  'nobody but the algorithms branches on their names': onlyAlgorithmsKnowAlgorithms,
  [`a file has at most ${LONGEST_FILE} lines`]: filesAreShort,
  [`a function has at most ${LONGEST_FUNCTION} lines`]: functionsAreShort,
};

describe('the house', () => {
  it('is read as a whole', () => {
    expect(src.size).toBeGreaterThan(50);
    expect(importsOf(src).length).toBeGreaterThan(200);
    expect(new Set([...src.keys()].map(roomOf))).toEqual(new Set(Object.keys(ROOMS)));
  });

  it('has the peers that it should', () => {
    expect(PEERS).toEqual(['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs']);
    expect(new Set(OPTIONAL)).toEqual(new Set(Object.values(KNOWN_IN).flat()));
  });

  it.each(Object.entries(RULES))('holds that %s', (_name, rule) => {
    expect(rule(src)).toEqual([]);
  });
});

const lines = (count: number) => Array(count).fill('x();').join('\n');

/** Files that break a rule, with what the rule says of them, and files that do not. */
const cases: readonly [rule: Rule, files: Readonly<Record<string, string>>, said: string[]][] = [
  [everyFileHasARoom, { 'cellar/a.ts': '', 'core/a.ts': '', 'index.ts': '' }, ['cellar/a.ts']],
  [
    arrowsPointOneWay,
    {
      'core/a.ts': `
        import { x } from '../http/x.js';
        import type { y } from '../nest/y.js';
        export { z } from '../testing/z.js';
        import '../stores/memory/s.js';
        import { i } from '../index.js';
        const lazy = () => import('../nest/lazy.js');
        const required = require('../nest/required.js');
        type T = import('../http/t.js').T;
        import './algorithms/index.js';
        // import '../nest/comment.js';
        const text = "import '../nest/text.js'";`,
      'core/algorithms/b.ts': `import '../a.js'; import '../../http/b.js';`,
      'core/index.ts': `export { m } from '../stores/memory/m.js'; import '../http/c.js';`,
    },
    [
      'core/a.ts → ../http/x.js',
      'core/a.ts → ../nest/y.js',
      'core/a.ts → ../testing/z.js',
      'core/a.ts → ../stores/memory/s.js',
      'core/a.ts → ../index.js',
      'core/a.ts → ../nest/lazy.js',
      'core/a.ts → ../nest/required.js',
      'core/a.ts → ../http/t.js',
      'core/algorithms/b.ts → ../../http/b.js',
      'core/index.ts → ../http/c.js',
    ],
  ],
  [
    arrowsPointOneWay,
    {
      'http/a.ts': `import '../core/x.js'; import './b.js'; import '../nest/y.js';`,
      'stores/memory/a.ts': `import '../../core/x.js'; import './b.js'; import '../redis/r.js';`,
      'stores/memory/b.ts': `import '../../http/x.js'; import '../../nest/x.js';`,
      'testing/a.ts': `import '../core/index.js'; import './b.js'; import '../stores/memory/m.js';`,
      'nest/a.ts': `import '../core/x.js'; import '../http/x.js'; import '../stores/memory/m.js';`,
      'nest/b.ts': `import '../testing/index.js'; import '../index.js';`,
      'index.ts': `export * from './nest/a.js'; export * from './testing/index.js';`,
    },
    [
      'http/a.ts → ../nest/y.js',
      'stores/memory/a.ts → ../redis/r.js',
      'stores/memory/b.ts → ../../http/x.js',
      'stores/memory/b.ts → ../../nest/x.js',
      'testing/a.ts → ../stores/memory/m.js',
      'nest/a.ts → ../stores/memory/m.js',
      'nest/b.ts → ../testing/index.js',
      'nest/b.ts → ../index.js',
      'index.ts → ./testing/index.js',
    ],
  ],
  [
    importsExist,
    { 'core/a.ts': `import './b.js'; import './c.js'; import './b';`, 'core/b.ts': '' },
    ['core/a.ts → ./c.js', 'core/a.ts → ./b'],
  ],
  [
    nobodyBehindTheDoorUsesIt,
    {
      'core/a.ts': `import type { x } from './index.js'; import './algorithms/index.js';`,
      'stores/memory/a.ts': `import '../../core/index.js';`,
      'nest/a.ts': `import '../core/index.js';`,
      'index.ts': `import './core/index.js';`,
    },
    ['core/a.ts → ./index.js', 'stores/memory/a.ts → ../../core/index.js'],
  ],
  [
    packagesArePeers,
    {
      'core/a.ts': `import 'rxjs'; import type { x } from 'node:fs';`,
      'http/a.ts': `import { HttpException } from '@nestjs/common'; import 'node:net';`,
      'stores/memory/a.ts': `import 'node:crypto'; import 'ioredis';`,
      'stores/redis/a.ts': `import 'redis';`,
      'stores/redis/clients/a.ts': `import('ioredis'); import('iovalkey'); import 'redis';
        import 'rxjs';`,
      'testing/a.ts': `import '@nestjs/testing';`,
      'nest/a.ts': `import '@nestjs/common'; import 'rxjs'; import 'node:cluster';
        import 'express'; import type { F } from 'fastify'; import 'rxjs/operators'; import 'fs';
        import 'ioredis';`,
      'index.ts': `export * from 'rxjs';`,
    },
    [
      'core/a.ts → rxjs',
      'core/a.ts → node:fs',
      'http/a.ts → @nestjs/common',
      'http/a.ts → node:net',
      'stores/memory/a.ts → ioredis',
      'stores/redis/a.ts → redis',
      'stores/redis/clients/a.ts → rxjs',
      'testing/a.ts → @nestjs/testing',
      'nest/a.ts → express',
      'nest/a.ts → fastify',
      'nest/a.ts → rxjs/operators',
      'nest/a.ts → fs',
      'nest/a.ts → ioredis',
      'index.ts → rxjs',
    ],
  ],
  [
    noCycles,
    {
      'core/a.ts': `import { b } from './b.js';`,
      'core/b.ts': `export * from './c.js';`,
      'core/c.ts': `import { type T, a } from './a.js';`,
      'core/self.ts': `import './self.js';`,
    },
    ['core/a.ts → core/b.ts → core/c.ts → core/a.ts', 'core/self.ts → core/self.ts'],
  ],
  [
    noCycles,
    {
      'core/a.ts': `import { b } from './b.js'; import { c } from './c.js';`,
      'core/b.ts': `import type { A } from './a.js'; import { c } from './c.js';`,
      'core/c.ts': `import { type A, type B } from './a.js'; export type { B } from './b.js';`,
      'core/d.ts': `export { type A } from './e.js';`,
      'core/e.ts': `import { d } from './d.js'; type D = import('./d.js').D;`,
    },
    [],
  ],
  [
    onlyAlgorithmsKnowAlgorithms,
    {
      'core/a.ts': `
        if (rule.algorithm === 'token-bucket') x();
        if ('fixed-window' !== rule.algorithm) x();
        if (a == (\`sliding-window\` as Name)) x();
        switch (a) { case 'sliding-window-counter': x(); case 'other': y(); }
        const name = 'token-bucket';
        type Log<A> = A extends 'sliding-window-log' ? true : false;`,
      'nest/a.ts': `const log = rule.algorithm != 'sliding-window-log' ? 1 : 2;`,
      'core/algorithms/a.ts': `if (name === 'token-bucket') x();`,
    },
    [
      `core/a.ts: rule.algorithm === 'token-bucket'`,
      `core/a.ts: 'fixed-window' !== rule.algorithm`,
      'core/a.ts: a == (`sliding-window` as Name)',
      `core/a.ts: case 'sliding-window-counter'`,
      `nest/a.ts: rule.algorithm != 'sliding-window-log'`,
    ],
  ],
  [
    filesAreShort,
    { 'core/a.ts': `${lines(LONGEST_FILE)}\n`, 'core/b.ts': lines(LONGEST_FILE + 1) },
    [`core/b.ts: ${LONGEST_FILE + 1} lines`],
  ],
  [
    functionsAreShort,
    {
      'core/a.ts': `/**\n * A long comment.\n */\nfunction a() {\n${lines(LONGEST_FUNCTION - 2)}\n}`,
      'core/b.ts': `${lines(3)}\nfunction b() {\n${lines(LONGEST_FUNCTION - 1)}\n}`,
      'core/c.ts': `class C {\n${lines(0)}  m() {\n${lines(LONGEST_FUNCTION)}\n  }\n}`,
      'core/d.ts': `export const d = () => {\n${lines(LONGEST_FUNCTION)}\n};`,
      'core/e.ts': `class E {\n${'  m() {}\n'.repeat(LONGEST_FUNCTION + 1)}}`,
    },
    [
      `core/b.ts:4: ${LONGEST_FUNCTION + 1} lines`,
      `core/c.ts:2: ${LONGEST_FUNCTION + 2} lines`,
      `core/d.ts:1: ${LONGEST_FUNCTION + 2} lines`,
    ],
  ],
];

const nameOf = (rule: Rule) =>
  Object.entries(RULES).find(([, one]) => one === rule)?.[0] ?? 'a rule without a name';

describe('a rule of the house', () => {
  it.each(cases.map(([rule, files, said]) => [nameOf(rule), rule, files, said] as const))(
    'sees what breaks it, and nothing else: %s',
    (_name, rule, files, said) => {
      expect(rule(new Map(Object.entries(files)))).toEqual(said);
    },
  );

  it('is tried, each of them', () => {
    expect(Object.values(RULES).filter((rule) => !cases.some(([tried]) => tried === rule))).toEqual(
      [],
    );
  });
});
