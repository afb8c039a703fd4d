import type { CheckedOptions, CheckedRule, CheckedRules } from '../../src/core/rule-types.js';

/**
 * The public signatures that check rule text, declared only as far as the snippets need them.
 * `compile.ts` names the module that the snippets import.
 */
export interface RuleObject {
  readonly algorithm?: 'token-bucket' | 'fixed-window' | 'sliding-window';
  readonly limit: number | string;
  readonly window?: string | number;
  readonly burst?: number;
  readonly by?: string | readonly string[];
  readonly name?: string;
}

type RuleSource = string | RuleObject;
type PolicySource = RuleSource | readonly RuleSource[];
type Entry =
  | PolicySource
  | { readonly default?: PolicySource; readonly api?: Readonly<Record<string, PolicySource>> };

interface RuleBookObject {
  readonly default?: PolicySource;
  readonly api?: Readonly<Record<string, PolicySource>>;
  readonly user?: Readonly<Record<string, Entry>>;
  readonly tier?: Readonly<Record<string, Entry>>;
  readonly policy?: Readonly<Record<string, PolicySource>>;
  readonly always?: PolicySource | Readonly<Record<string, PolicySource>>;
  readonly mode?: 'enforce' | 'shadow' | 'off';
}

interface Context {
  getHandler(): string;
}

export interface RateLimitOptions {
  readonly user?: (req: { user?: { id: string } }, ctx?: Context) => string | undefined;
  readonly skip?: (ctx: Context) => boolean | Promise<boolean>;
  readonly dimensions?: Readonly<Record<string, (ctx: Context) => string | undefined>>;
  readonly headers?: 'ietf' | 'legacy' | false;
  readonly always?: PolicySource | Readonly<Record<string, PolicySource>>;
  readonly rules?: string | RuleBookObject;
}

type Checked<O> = O & CheckedOptions<O, RateLimitOptions>;

export declare function RateLimit<const T extends readonly RuleSource[]>(
  ...rules: CheckedRules<T>
): MethodDecorator & ClassDecorator;

export declare class RateLimitModule {
  static forRoot<const O extends RateLimitOptions>(options: Checked<O>): object;
  static forRootAsync<const O extends RateLimitOptions>(options: {
    inject?: readonly unknown[];
    useFactory: (...injected: never[]) => Checked<O> | Promise<Checked<O>>;
  }): object;
}

export declare class Policy {
  static parse<const T extends string>(text: T & CheckedRule<T>): Policy;
}
