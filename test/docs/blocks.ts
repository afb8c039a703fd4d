import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = process.cwd();

/** A fenced block of a document. */
export interface Block {
  readonly file: string;
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a document, in their order. */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    file,
    language,
    text: body,
  }));
}

/** The first TypeScript block that holds `part`. */
export function example(file: string, part: string): string {
  const found = blocksOf(file).find(
    ({ language, text }) => language === 'ts' && text.includes(part),
  );
  if (!found) throw new Error(`${file} has no TypeScript example with ${part}`);
  return found.text;
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Runs an example; answers what it exports, and `names` of its top level besides. */
export function run(
  source: string,
  names: readonly string[] = [],
  given: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const body = `${source}\nexport { ${names.join(', ')} };`;
  const compilerOptions = { ...OPTIONS, module: ts.ModuleKind.CommonJS };
  const { outputText } = ts.transpileModule(body, { compilerOptions });
  const code = `return (async () => { ${outputText}\nreturn exports; })();`;
  return new Function('require', 'exports', ...Object.keys(given), code)(
    require,
    {},
    ...Object.values(given),
  );
}

/** What the compiler says of an example, with `prologue` before it. */
export function diagnosticsOf(source: string, prologue: string): string[] {
  const name = join(ROOT, 'test/docs/example.ts');
  const config = ts.parseConfigFileTextToJson(
    'tsconfig.json',
    readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'),
  ).config;
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (file, target) =>
    file === name
      ? ts.createSourceFile(file, `${prologue}\n${source}\nexport {};`, target)
      : read(file, target);
  const program = ts.createProgram([name], { ...options, noUnusedLocals: false }, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(name))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
