import { ALGORITHM_NAMES, algorithmKind } from './algorithms/index.js';
import { type Faults, nearest } from './fault.js';
import { checkNumbers } from './rule-check.js';
import type { RuleParts } from './rule-fields.js';
import { OPTION_NAMES, type OptionName, readOption } from './rule-options.js';

/**
 * Reads `algorithm,limit,window[,option=value]…`.
 *
 * @param place where the text stands, for the faults: `api "/login"`
 * @returns the parts, or undefined when anything was wrong; each fault is added to `faults`
 */
export function readRuleText(text: string, place: string, faults: Faults): RuleParts | undefined {
  const before = faults.list.length;
  const [algorithm = '', limit, window, ...options] = text.split(',').map((part) => part.trim());
  if (limit === undefined || window === undefined) {
    const problem = 'a rule is algorithm,limit,window such as token-bucket,5,10';
    return faults.add({ code: 'RULE_SYNTAX', place, given: text, problem });
  }
  const kind = algorithmKind(algorithm);
  if (!kind) {
    faults.add({
      code: 'RULE_ALGORITHM',
      place,
      given: text,
      problem: `unknown algorithm ${JSON.stringify(algorithm)}; use ${ALGORITHM_NAMES.join(', ')}`,
      meant: nearest(algorithm, ALGORITHM_NAMES),
    });
  }
  const fields = readOptions(options, text, place, faults);
  const numbers = checkNumbers({ kind, limit, window, burst: fields.burst }, text, place, faults);
  if (faults.list.length > before || !kind || !numbers) return undefined;
  return { ...fields, ...numbers, algorithm: kind.name };
}

function readOptions(options: string[], text: string, place: string, faults: Faults) {
  const fields: { -readonly [K in keyof RuleParts]?: RuleParts[K] } = {};
  const seen = new Set<string>();
  const fault = (problem: string, meant?: string) =>
    faults.add({ code: 'RULE_OPTION', place, given: text, problem, meant });
  for (const option of options) {
    const split = option.indexOf('=');
    const name = split < 0 ? option : option.slice(0, split).trimEnd();
    if (split < 0) fault(`expected option=value, got ${JSON.stringify(option)}`);
    else if (!OPTION_NAMES.includes(name as OptionName)) {
      const known = `use ${OPTION_NAMES.join(', ')}`;
      fault(`unknown option ${JSON.stringify(name)}; ${known}`, nearest(name, OPTION_NAMES));
    } else if (seen.has(name)) fault(`option ${name} is given twice`);
    else readOption(name as OptionName, option.slice(split + 1).trimStart(), fields, fault);
    seen.add(name);
  }
  return fields;
}
