import fc from 'fast-check';

const UNITS = { ms: 1, s: 1000, '': 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_MILLIS = 365 * UNITS.d;

interface Time {
  readonly text: string;
  readonly millis: number;
}

interface Rule {
  readonly algorithm: string;
  readonly limit: { readonly text: string; readonly value: number };
  readonly window: Time;
  readonly options: readonly (readonly [name: string, value: string])[];
}

/** Text that the parser accepts: one to three rules, each with any options in any order. */
export function validRuleText(): fc.Arbitrary<string> {
  return fc
    .array(rule, { minLength: 1, maxLength: 3, size: 'max' })
    .filter(namesDiffer)
    .map((rules) => rules.flatMap((each, i) => (i === 0 ? tokens(each) : ['&', ...tokens(each)])))
    .chain((all) => {
      const gaps = { minLength: all.length + 1, maxLength: all.length + 1 };
      return fc
        .array(fc.constantFrom('', '', '', ' ', '  ', '\t', '\n'), gaps)
        .map(([first = '', ...rest]) => first + all.map((token, i) => token + rest[i]).join(''));
    });
}

/** A positive whole number, small ones as often as large ones. */
const upTo = (max: number) =>
  fc.oneof(fc.integer({ min: 1, max: Math.min(max, 20) }), fc.integer({ min: 1, max }));

/** With up to three decimals, in steps that make whole milliseconds: `0.05m`, but never `1.5ms`. */
const time: fc.Arbitrary<Time> = fc
  .record({
    unit: fc.constantFrom(...(Object.keys(UNITS) as (keyof typeof UNITS)[])),
    decimals: fc.nat(3),
  })
  .chain(({ unit, decimals }) => {
    const scale = 10 ** decimals;
    const step = scale / gcd(UNITS[unit], scale);
    const stepMillis = (step * UNITS[unit]) / scale;
    return upTo(Math.floor(LONGEST_MILLIS / stepMillis)).map((steps) => ({
      text: `${pointAt(decimals, steps * step)}${unit}`,
      millis: steps * stepMillis,
    }));
  });

const options = fc
  .record({
    burst: upTo(1_000_000).map(String),
    by: fc
      .shuffledSubarray(['user', 'api', 'ip', 'global'], { minLength: 1 })
      .map((dimensions) => dimensions.join('+')),
    name: fc.stringMatching(/^[a-z0-9-]{1,20}$/),
    count: fc.constantFrom('all', 'failures', 'successes'),
    mode: fc.constantFrom('enforce', 'shadow'),
    onStoreError: fc.constantFrom('allow', 'deny', 'local'),
    wait: time.map(({ text }) => text),
    final: fc.constantFrom('true', 'false'),
  })
  .chain((values) => fc.shuffledSubarray(Object.entries(values)));

const ruleOf = (algorithm: string): fc.Arbitrary<Rule> =>
  fc
    .record({
      algorithm: fc.constant(algorithm),
      limit: fc
        .tuple(fc.constantFrom('', '', '', '0', '00'), upTo(isLog(algorithm) ? 1000 : 1_000_000))
        .map(([zeros, value]) => ({ text: `${zeros}${value}`, value })),
      window: time,
      options: options.map((all) =>
        all.filter(([name]) => name !== 'burst' || algorithm === 'token-bucket'),
      ),
    })
    .filter(isExact);

const rule = fc.oneof(
  ruleOf('token-bucket'),
  ruleOf('fixed-window'),
  ruleOf('sliding-window'),
  ruleOf('sliding-window-log'),
  ruleOf('sliding-window-counter'),
);

/** Whether the algorithm can keep its numbers below 2^53; others are refused. */
function isExact({ algorithm, limit: { value: limit }, window, options }: Rule): boolean {
  if (algorithm === 'sliding-window-counter') return Number.isSafeInteger(limit * window.millis);
  if (algorithm !== 'token-bucket') return true;
  const burst = Number(Object.fromEntries(options)['burst'] ?? limit);
  return Number.isSafeInteger(2 * burst * (window.millis / gcd(limit, window.millis)));
}

/** One name for two different rules is a fault. */
function namesDiffer(rules: readonly Rule[]): boolean {
  const names = rules.flatMap(({ options }) => Object.fromEntries(options)['name'] ?? []);
  return new Set(names).size === names.length;
}

function isLog(algorithm: string): boolean {
  return algorithm === 'sliding-window' || algorithm === 'sliding-window-log';
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function pointAt(decimals: number, digits: number): string {
  const text = String(digits).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

/** The parts that white space may surround. */
function tokens({ algorithm, limit, window, options }: Rule): string[] {
  const rest = options.flatMap(([name, value]) => [',', name, '=', value]);
  return [algorithm, ',', limit.text, ',', window.text, ...rest];
}
