import { DEFAULT_ALGORITHM } from './algorithms/index.js';
import { type Faults, nearest, show } from './fault.js';
import type { RuleParts } from './rule-fields.js';
import { OPTION_NAMES } from './rule-options.js';
import { readRuleText } from './rule-text.js';

const NUMBERS = ['algorithm', 'limit', 'window', 'windowMillis'] as const;
const FIELDS: readonly string[] = [...NUMBERS, ...OPTION_NAMES];

/**
 * Reads the object form. Its fields are those of the text, so it is written as text and read by
 * the same parser: one grammar, one set of checks, and a number that arrives as text is converted
 * or refused like any other.
 */
export function readRuleObject(
  object: unknown,
  place: string,
  faults: Faults,
): RuleParts | undefined {
  const given = show(object);
  const fault = (problem: string, meant?: string) =>
    faults.add({ code: 'RULE_SYNTAX', place, given, problem, meant });
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    return fault('a rule is text such as "token-bucket,5,10" or an object with limit and window');
  }
  const before = faults.list.length;
  const fields = new Map(Object.entries(object).filter(([, value]) => value !== undefined));
  for (const name of fields.keys()) {
    if (!FIELDS.includes(name)) {
      fault(
        `unknown field ${JSON.stringify(name)}; use ${FIELDS.join(', ')}`,
        nearest(name, FIELDS),
      );
    }
  }
  if (!fields.has('limit')) fault('limit is missing');
  if (!fields.has('window') && !fields.has('windowMillis')) fault('window is missing');
  if (fields.has('window') && fields.has('windowMillis')) {
    fault('window and windowMillis are two spellings of one thing: give one');
  }
  const parts = [...fields].map(([name, value]) => [name, fieldText(name, value)] as const);
  for (const [name, text] of parts) {
    if (text === undefined) fault(`${name} is ${show(fields.get(name))}, which is no value for it`);
  }
  if (faults.list.length > before) return undefined;
  return readTextOf(new Map(parts as [string, string][]), given, place, faults);
}

function readTextOf(parts: Map<string, string>, given: string, place: string, faults: Faults) {
  const text = [
    parts.get('algorithm') ?? DEFAULT_ALGORITHM,
    parts.get('limit'),
    parts.has('windowMillis') ? `${parts.get('windowMillis')}ms` : parts.get('window'),
    ...OPTION_NAMES.filter((name) => parts.has(name)).map((name) => `${name}=${parts.get(name)}`),
  ].join(',');
  const from = faults.list.length;
  const read = readRuleText(text, place, faults);
  for (let i = from; i < faults.list.length; i++) faults.list[i] = { ...faults.list[i]!, given };
  return read;
}

/** A field's value as rule text; undefined when it has none (a comma would begin another part). */
function fieldText(name: string, value: unknown): string | undefined {
  if (name === 'by' && Array.isArray(value)) {
    const texts = value.map((one) => (typeof one === 'string' ? fieldText('', one) : undefined));
    return texts.every((text) => text !== undefined) ? texts.join('+') : undefined;
  }
  if (name === 'final' && typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' && !/[,&]/.test(value) ? value.trim() : undefined;
}

/** Without an exponent, which rule text does not know. */
function numberText(value: number): string {
  return Number.isSafeInteger(value) ? value.toFixed(0) : String(value);
}
