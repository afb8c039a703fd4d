/** What is wrong with a configuration, in a form that programs can tell apart. */
export type FaultCode =
  | 'RULE_SYNTAX'
  | 'RULE_ALGORITHM'
  | 'RULE_LIMIT'
  | 'RULE_WINDOW'
  | 'RULE_OPTION'
  | 'RULE_INEXACT'
  | 'RULE_LOG_TOO_LARGE'
  | 'RULE_NOT_AVAILABLE'
  | 'RULE_DIMENSION'
  | 'BOOK_KEY'
  | 'BOOK_VALUE'
  | 'BOOK_FILE'
  | 'POLICY_UNKNOWN'
  | 'NAME_CONFLICT'
  | 'OPTION_UNKNOWN'
  | 'OPTION_VALUE'
  | 'DECORATOR_CONFLICT'
  | 'DECORATOR_NO_EFFECT'
  | 'DECORATOR_LOST'
  | 'PLACE_CONFLICT'
  | 'MODULE_TWICE';

/** One fault of a rule, a book, an option or a decorator. */
export interface Fault {
  readonly code: FaultCode;
  /** Where it stands: `api "/login"`, `option "headers"`, `@RateLimit on Orders.list`. */
  readonly place: string;
  /** What was given there, as text. */
  readonly given: string;
  /** What is wrong and what is right. */
  readonly problem: string;
  /** What was probably meant, when something is near. */
  readonly meant?: string | undefined;
}

/** A configuration that cannot be used: carries every fault that was found, not the first. */
export class RateLimitConfigError extends Error {
  override readonly name = 'RateLimitConfigError';
  /** Stable code of the first fault. */
  readonly code: FaultCode;

  constructor(readonly faults: readonly Fault[]) {
    const lines = faults.map(faultText);
    super(lines.length === 1 ? lines[0] : `${lines.length} faults:\n- ${lines.join('\n- ')}`);
    this.code = faults[0]?.code ?? 'RULE_SYNTAX';
  }
}

/** A fault as one line for a person. */
export function faultText({ place, given, problem, meant }: Fault): string {
  const hint = meant === undefined ? '' : ` (did you mean ${quote(meant)}?)`;
  return `Invalid ${quote(given)} for ${place}: ${problem}${hint}`;
}

/** Collects faults, so that all of them are told at once. */
export class Faults {
  readonly list: Fault[] = [];

  add(fault: Fault): undefined {
    this.list.push(fault);
    return undefined;
  }

  /** The same fault of the same place is told once: a class's rule is read for each handler. */
  throwIfAny(): void {
    if (this.list.length === 0) return;
    const each = new Map(this.list.map((fault) => [faultText(fault), fault]));
    throw new RateLimitConfigError([...each.values()]);
  }
}

/** Text in double quotes, cut to a length that a log line bears. */
export function quote(text: string): string {
  const shown = text.length > 120 ? `${text.slice(0, 117)}...` : text;
  return JSON.stringify(shown);
}

/** Any value as the text to show for it; never throws, whatever the value does when it is read. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (typeof value === 'function') return `function ${value.name || '(anonymous)'}`;
    // As JSON, NaN and Infinity are null.
    if (typeof value === 'number') return String(value);
    return jsonOf(value) ?? Object.prototype.toString.call(value);
  } catch {
    return `${typeof value === 'function' ? 'a function' : 'an object'} that cannot be read`;
  }
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return undefined;
  }
}

/** What was given in place of a number, with its type where it is none. */
export function showNumber(value: unknown): string {
  return typeof value === 'number' ? `${value}` : `${typeof value} ${show(value)}`;
}

/** What was thrown says of itself. Anything can be thrown, so this never throws. */
export function messageOf(thrown: unknown): string {
  try {
    const { message, name } = (thrown ?? {}) as { readonly message?: unknown; name?: unknown };
    if (typeof message === 'string' && message !== '') return message;
    if (typeof name === 'string' && thrown instanceof Error) return name;
  } catch {
    // Then it is shown as any other value.
  }
  return show(thrown);
}

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  try {
    if (thrown instanceof Error) return thrown;
  } catch {
    // A revoked proxy is an instance of nothing.
  }
  return new Error(messageOf(thrown));
}

/** The candidate that is at most two edits (one for short words) away, for a hint. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = word.length <= 4 ? 2 : 3;
  for (const candidate of candidates) {
    const distance = editDistance(word.slice(0, 64).toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best === word ? undefined : best;
}

/** Levenshtein's distance with a swap of neighbours as one edit (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      row.push(cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
