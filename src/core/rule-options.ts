import { parseDimensions } from './dimension.js';
import { parseDuration } from './duration.js';
import { nearest } from './fault.js';
import type { RuleParts } from './rule-fields.js';

/** The options of rule text, in the order they are printed and told. */
export const OPTION_NAMES = [
  'burst',
  'by',
  'name',
  'count',
  'mode',
  'onStoreError',
  'wait',
  'final',
] as const;

export type OptionName = (typeof OPTION_NAMES)[number];

/** Told what is wrong, and what was probably meant. */
export type OptionFault = (problem: string, meant?: string) => undefined;

type Fields = { -readonly [K in keyof RuleParts]?: RuleParts[K] };

const CHOICES = {
  count: ['all', 'failures', 'successes'],
  mode: ['enforce', 'shadow'],
  onStoreError: ['allow', 'deny', 'local'],
  final: ['true', 'false'],
} as const;

/** Reads the text of one option into `fields`. */
export function readOption(
  name: OptionName,
  value: string,
  fields: Fields,
  fault: OptionFault,
): void {
  switch (name) {
    case 'burst':
      fields.burst =
        wholeNumber(value) ?? fault(`burst must be a positive whole number, got ${said(value)}`);
      return;
    case 'by':
      fields.by =
        parseDimensions(value) ??
        fault(`by must be dimensions joined with +, each once, got ${said(value)}`);
      return;
    case 'name':
      if (/^[a-z0-9-]+$/.test(value)) fields.name = value;
      else fault(`name must be of a-z, 0-9 and -, got ${said(value)}`);
      return;
    case 'wait':
      fields.waitMillis =
        parseDuration(value) ??
        fault(`wait must be a time such as 200ms or 2s, got ${said(value)}`);
      return;
    case 'final':
      if (oneOf('final', value, fault)) fields.final = value === 'true';
      return;
    default:
      if (oneOf(name, value, fault)) Object.assign(fields, { [name]: value });
  }
}

/** A positive whole number below 2^53 in decimal digits, or undefined. */
export function wholeNumber(text: string): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}

function oneOf(name: keyof typeof CHOICES, value: string, fault: OptionFault): boolean {
  const choices: readonly string[] = CHOICES[name];
  if (choices.includes(value)) return true;
  fault(`${name} must be ${choices.join(' or ')}, got ${said(value)}`, nearest(value, choices));
  return false;
}

const said = (value: string) => JSON.stringify(value);
