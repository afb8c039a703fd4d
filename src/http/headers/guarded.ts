import { isPromise } from '../../core/maybe-promise.js';
import { shown } from '../shown.js';
import type { HeaderDialect } from './dialect.js';

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** They say where an answer ends: a wrong one breaks it. */
const FRAMING = ['connection', 'content-length', 'trailer', 'transfer-encoding', 'upgrade'];

/**
 * A dialect of the application that cannot break an answer: what it gets wrong is left out, and told
 * to `warn` as what the function did: `threw Error: no`.
 */
export function guarded(dialect: HeaderDialect, warn: (did: string) => void): HeaderDialect {
  return (decision) => {
    const headers: Record<string, string> = {};
    try {
      for (const [name, value] of entriesOf(dialect(decision))) {
        const fault = faultOf(name, value);
        if (fault === undefined) headers[name] = value as string;
        else warn(fault);
      }
    } catch (error) {
      warn(error instanceof Wrong ? error.message : `threw ${shown(error)}`);
    }
    return headers;
  };
}

class Wrong extends Error {}

function entriesOf(answer: unknown): [string, unknown][] {
  if (isPromise(answer)) {
    // Nobody waits for it; rejected and unheard, it would end the process.
    answer.then(undefined, () => undefined);
    throw new Wrong('answered a promise; headers are told at once');
  }
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) {
    return Object.entries(answer);
  }
  throw new Wrong(`answered ${shown(answer)}, which is no object of names and values`);
}

function faultOf(name: string, value: unknown): string | undefined {
  if (!NAME.test(name)) return `named a header ${shown(name)}, which is no name for one`;
  if (FRAMING.includes(name.toLowerCase())) return `wrote ${name}, which is up to the server`;
  if (typeof value === 'string' && VALUE.test(value)) return undefined;
  return `gave ${name} the value ${shown(value)}, which is no text of visible ASCII`;
}
