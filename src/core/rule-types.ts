/**
 * The compile-time check of rule text: a wrong literal does not compile, and the message says why.
 *
 * The type of a literal is the text itself, so template literal types can take it apart just as the
 * parser does at run time. Each step, named `…Fault`, answers `never` for what is right and a sentence
 * for what is wrong, so that the faults of the parts are simply joined with `|`. A text without fault
 * keeps its type; any other becomes an object that no text can be assigned to, and that speaks:
 *
 *     'fixd-window,2,10'  →  Invalid<'✗ unknown algorithm "fixd-window": use …'>
 *
 * The types may pass what the parser refuses at start-up (half a millisecond, a name in capitals) but
 * never refuse what it accepts. A plain `string` or a pattern such as `${string},5` passes. Lists are
 * walked with an accumulator in tail position: the compiler makes a loop of it, so long text does not
 * run into its limit of depth.
 */

type Fault<Message extends string> = `✗ ${Message}`;
type Unless<Holds, Message extends string> = Holds extends true ? never : Fault<Message>;

/** What a wrong value becomes. An object, as `'text' & '✗ …'` would collapse to a wordless `never`. */
interface Invalid<Faults> {
  readonly invalid: Faults;
}

// Text and numbers

/** All that `String.prototype.trim` takes off, since the parser does so. */
type Space =
  | (' ' | '\t' | '\n' | '\r' | '\v' | '\f' | '\u00a0' | '\u1680' | '\u2000' | '\u2001' | '\u2002')
  | ('\u2003' | '\u2004' | '\u2005' | '\u2006' | '\u2007' | '\u2008' | '\u2009' | '\u200a')
  | ('\u2028' | '\u2029' | '\u202f' | '\u205f' | '\u3000' | '\ufeff');

type Trim<S extends string> = S extends `${Space}${infer Rest}` | `${infer Rest}${Space}`
  ? Trim<Rest>
  : S;

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

/** Digits only, not all of them 0. Not `${bigint}`, which lets `-5` and `0x1f` through. */
type IsWhole<S extends string, Positive extends boolean = false> = S extends `${Digit}${infer Rest}`
  ? IsWhole<Rest, S extends `0${string}` ? Positive : true>
  : S extends ''
    ? Positive
    : false;

/** With digits on both sides of the point, `0.25` is positive exactly if `025` is. */
type IsDecimal<S extends string> = S extends `.${string}` | `${string}.`
  ? false
  : S extends `${infer Whole}.${infer Part}`
    ? IsWhole<`${Whole}${Part}`>
    : IsWhole<S>;

type IsTime<S extends string> = S extends `${infer Amount}ms`
  ? IsDecimal<Amount>
  : S extends `${infer Amount}${'s' | 'm' | 'h' | 'd'}`
    ? IsDecimal<Amount>
    : IsDecimal<S>;

type WholeFault<Name extends string, S extends string> = Unless<
  IsWhole<S>,
  `${Name} must be a positive whole number, got "${S}"`
>;

type TimeFault<Name extends string, S extends string> = Unless<
  IsTime<S>,
  `${Name} must be a positive time such as 10, 0.5, 250ms, 5m or 1d, got "${S}"`
>;

// Options: [,option=value]…

type ChoiceFault<Name extends string, S extends string, Choice, InWords extends string> = Unless<
  S extends Choice ? true : false,
  `${Name} must be ${InWords}, got "${S}"`
>;

type EmptyFault<Name extends string, S extends string> = S extends ''
  ? Fault<`${Name} must not be empty`>
  : never;

type BurstFault<A extends string, S extends string> =
  A extends Exclude<Algorithm, 'token-bucket'>
    ? Fault<`burst is an option of token-bucket only, not of ${A}`>
    : WholeFault<'burst', S>;

interface OptionFaults<A extends string, S extends string> {
  burst: BurstFault<A, S>;
  by: EmptyFault<'by', S>;
  name: EmptyFault<'name', S>;
  wait: TimeFault<'wait', S>;
  count: ChoiceFault<'count', S, 'all' | 'failures' | 'successes', 'all, failures or successes'>;
  mode: ChoiceFault<'mode', S, 'enforce' | 'shadow', 'enforce or shadow'>;
  onStoreError: ChoiceFault<'onStoreError', S, 'allow' | 'deny' | 'local', 'allow, deny or local'>;
  final: ChoiceFault<'final', S, 'true' | 'false', 'true or false'>;
}

type ValueFault<
  A extends string,
  Name extends string,
  S extends string,
> = Name extends keyof OptionFaults<A, S>
  ? OptionFaults<A, S>[Name]
  : Fault<`unknown option "${Name}": use burst, by, name, count, mode, onStoreError, wait or final`>;

type NameOf<S extends string> = S extends `${infer Name}=${string}` ? Trim<Name> : never;

type OptionFault<A extends string, S extends string, Seen> = S extends `${string}=${infer Value}`
  ? NameOf<S> extends Seen
    ? Fault<`option ${NameOf<S>} is given twice`>
    : ValueFault<A, NameOf<S>, Trim<Value>>
  : Fault<`an option is name=value, got "${Trim<S>}"`>;

type OptionsFault<
  A extends string,
  S extends string,
  Seen = never,
  Found = never,
> = S extends `${infer Head},${infer Rest}`
  ? OptionsFault<A, Rest, Seen | NameOf<Head>, Found | OptionFault<A, Head, Seen>>
  : Found | OptionFault<A, S, Seen>;

// Rules: algorithm,limit,window[,option=value]… joined by &

type Algorithm =
  | 'token-bucket'
  | 'fixed-window'
  | 'sliding-window'
  | 'sliding-window-log'
  | 'sliding-window-counter';

type AlgorithmFault<A extends string> = A extends Algorithm
  ? never
  : Fault<`unknown algorithm "${A}": use token-bucket, fixed-window, sliding-window or sliding-window-counter`>;

type WindowFault<A extends string, S extends string> = S extends `${infer Window},${infer Options}`
  ? TimeFault<'window', Trim<Window>> | OptionsFault<A, Options>
  : TimeFault<'window', Trim<S>>;

/** One part between `&`: a rule or, without a comma, the name of a policy, which start-up looks up. */
type PartFault<S extends string> = S extends `${infer A},${infer Limit},${infer Rest}`
  ? AlgorithmFault<Trim<A>> | WholeFault<'limit', Trim<Limit>> | WindowFault<Trim<A>, Rest>
  : S extends `${string},${string}`
    ? Fault<`a rule is algorithm,limit,window, got "${Trim<S>}"`>
    : EmptyFault<'a rule or the name of a policy', Trim<S>>;

type TextFault<S extends string, Found = never> = S extends `${infer Head}&${infer Rest}`
  ? TextFault<Rest, Found | PartFault<Head>>
  : Found | PartFault<S>;

/** A literal makes a required property; `string` and patterns an index, which an empty object has. */
type IsLiteral<S extends string> = Record<never, 1> extends Record<S, 1> ? false : true;

/** `T` itself if it can be a rule, else what is wrong with it. An array is checked item by item. */
export type CheckedRule<T> = T extends string
  ? IsLiteral<T> extends true
    ? [TextFault<T>] extends [never]
      ? T
      : Invalid<TextFault<T>>
    : T
  : T extends readonly unknown[]
    ? CheckedRules<T>
    : T;

/**
 * The same for each item of an array or value of an object, for a signature such as
 * `RateLimit<const T extends readonly RuleSource[]>(...rules: CheckedRules<T>)`.
 */
export type CheckedRules<T> = { [K in keyof T]: CheckedRule<T[K]> };

// The options of the module

/** A rule or rules by name. A rule's object form passes either way: its fields hold no comma. */
type CheckedAlways<T> = T extends string ? CheckedRule<T> : CheckedRules<T>;

type CheckedEntry<T> = T extends string | readonly unknown[]
  ? CheckedRule<T>
  : { [K in keyof T]: K extends 'default' | 'api' ? CheckedFields<T[K]>[K] : T[K] };

type CheckedEntries<T> = { [K in keyof T]: CheckedEntry<T[K]> };

/** The keys of a book that hold rules, and how each is checked. */
interface CheckedFields<T> {
  default: CheckedRule<T>;
  always: CheckedAlways<T>;
  api: CheckedRules<T>;
  policy: CheckedRules<T>;
  user: CheckedEntries<T>;
  tier: CheckedEntries<T>;
}

/** Properties text, which only the parser can read, or the book as an object. */
type CheckedBook<T, Known> = T extends string
  ? T
  : {
      [K in keyof T]: K extends keyof CheckedFields<T[K]>
        ? CheckedFields<T[K]>[K]
        : CheckedKey<K, T[K], Known>;
    };

type CheckedKey<K, T, Known> = K extends (Known extends object ? keyof Known : never)
  ? T
  : Invalid<Fault<`unknown option "${K & string}"`>>;

interface AnyKey {
  readonly [key: string]: AnyKey;
}

/**
 * For `forRoot<const O extends RateLimitOptions>(options: O & CheckedOptions<O, RateLimitOptions>)`.
 * An inferred `O` has every key it was given, so the compiler's own check for unknown keys hardly
 * ever strikes; `Known`, the declared options, brings it back. Without it any key passes.
 */
export type CheckedOptions<O, Known = AnyKey> = {
  [K in keyof O]: K extends 'always'
    ? CheckedAlways<O[K]>
    : K extends 'rules'
      ? CheckedBook<O[K], Known['rules' & keyof Known]>
      : CheckedKey<K, O[K], Known>;
};
