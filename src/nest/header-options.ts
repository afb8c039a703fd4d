import type { Faults } from '../core/fault.js';
import {
  contradiction,
  HEADER_DIALECTS,
  type HeaderDialect,
  type HeaderDialectName,
} from '../http/headers/index.js';

/** A dialect by name, or a function of the application. */
export type OneDialect = HeaderDialectName | HeaderDialect;

/** What the option `headers` takes, in words. */
export const HEADERS_IN_WORDS = `${Object.keys(HEADER_DIALECTS).join(', ')}, a function, a list or false`;

export function isHeadersOption(value: unknown): boolean {
  return value === false || listOf(value).every(isDialect);
}

/** The dialects that the option means, each once; a fault where two contradict each other. */
export function readHeaders(
  option: OneDialect | readonly OneDialect[] | false,
  faults: Faults,
): readonly OneDialect[] {
  const dialects = option === false ? [] : [...new Set(listOf(option) as OneDialect[])];
  const named = dialects.filter((one) => typeof one === 'string');
  const clash = contradiction(Object.fromEntries(named.map((one) => [one, HEADER_DIALECTS[one]])));
  if (clash) {
    const [one, other] = clash.dialects;
    const problem = `${one} and ${other} say different things in ${clash.header}, which stands once in an answer; take one of them`;
    faults.add({ code: 'OPTION_VALUE', place: 'option headers', given: named.join(', '), problem });
  }
  return dialects;
}

function isDialect(value: unknown): value is OneDialect {
  if (typeof value === 'function') return true;
  return typeof value === 'string' && Object.hasOwn(HEADER_DIALECTS, value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}
