import { join } from 'node:path';
import ts from 'typescript';

/** What every snippet begins with: the package as its users import it. */
const PROLOGUE = `
import { Policy, RateLimit, RateLimitModule } from 'nestjs-doorman';
import type { RateLimitOptions } from 'nestjs-doorman';
`;

const ROOT = join(__dirname, '../..');
const FOLDER = join(__dirname, 'virtual');

/** What the snippets import, read once for all programs: most of the time goes into it. */
const read = new Map<string, ts.SourceFile | undefined>();

/**
 * Compiles each snippet as a file of its own, all in one program, with the project's options.
 *
 * @returns what the compiler says of each, with the quotes inside type texts unescaped; '' if nothing
 */
export function compile(snippets: readonly string[]): string[] {
  const files = new Map(
    snippets.map((snippet, i) => [join(FOLDER, `${i}.ts`), `${PROLOGUE}${snippet}`]),
  );
  const program = ts.createProgram([...files.keys()], options(), virtualHost(files));
  return [...files.keys()].map((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
      .join('\n')
      .replaceAll('\\"', '"');
  });
}

/** A snippet for each of the places that take a rule's text. */
export const inEveryPlace = (text: string): string[] => {
  const literal = JSON.stringify(text);
  return [
    `export class Orders { @RateLimit(${literal}) list() {} }`,
    `RateLimitModule.forRoot({ rules: { default: ${literal} } });`,
    `Policy.parse(${literal});`,
  ];
};

function options(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT);
  return { ...parsed.options, types: ['node'] };
}

function virtualHost(files: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(options());
  const { fileExists, readFile, directoryExists, getSourceFile } = host;
  return {
    ...host,
    fileExists: (name) => files.has(name) || fileExists(name),
    readFile: (name) => files.get(name) ?? readFile(name),
    directoryExists: (name) => name === FOLDER || (directoryExists?.(name) ?? true),
    getSourceFile: (name, languageVersion, ...rest) => {
      const text = files.get(name);
      if (text !== undefined) return ts.createSourceFile(name, text, languageVersion);
      const file = read.get(name) ?? getSourceFile(name, languageVersion, ...rest);
      read.set(name, file);
      return file;
    },
  };
}
