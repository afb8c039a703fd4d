import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '../core/index.js';
import { isPromise } from '../core/maybe-promise.js';
import { PROBLEM_TYPE, problemBody } from '../http/problem-body.js';
import { shown } from '../http/shown.js';
import type { AnyBody } from './exceptions.js';
import type { Warnings } from './warnings.js';

/**
 * The body of a refusal: an object is sent as JSON, text is the message of Nest's usual body. The
 * status stays 429, or 503 where the store could not be asked (`decision.reason` is `store`).
 */
export type RefusalFunction = (decision: Decision, ctx: ExecutionContext) => object | string;

/** How a refusal's body is made. */
export type RefusalOption = 'json' | 'problem' | RefusalFunction;

/** The bodies of refusals. */
export interface RefusalBodies {
  /** What the answer says that they are, where that is not left to the framework. */
  readonly mediaType: string | undefined;
  /** The body; undefined: the exception's own. */
  readonly of:
    | ((decision: Decision, context: ExecutionContext | undefined) => AnyBody | undefined)
    | undefined;
}

export function refusalBodies(option: RefusalOption, warnings: Warnings): RefusalBodies {
  if (option === 'json') return { mediaType: undefined, of: undefined };
  if (option === 'problem') return { mediaType: PROBLEM_TYPE, of: problemBody };
  return {
    mediaType: undefined,
    of: (decision, context) => {
      try {
        const body: unknown = option(decision, context as ExecutionContext);
        const fault = faultOf(body);
        if (fault === undefined) return body as AnyBody;
        warn(warnings, fault);
      } catch (error) {
        warn(warnings, `threw ${shown(error)}`);
      }
      return undefined;
    },
  };
}

/** What would break the answer: written as JSON here, since later nobody could help it. */
function faultOf(body: unknown): string | undefined {
  if (typeof body === 'string') return undefined;
  if (isPromise(body)) {
    // Nobody waits for it; rejected and unheard, it would end the process.
    body.then(undefined, () => undefined);
    return 'answered a promise; a refusal is told at once';
  }
  // Of errors frameworks make a body as they like, or a 500.
  if (typeof body !== 'object' || body === null || body instanceof Error) {
    return `answered ${shown(body)}, which is neither a plain object nor text`;
  }
  const written: unknown = JSON.stringify(body);
  return written === undefined ? 'answered an object that is nothing in JSON' : undefined;
}

function warn(warnings: Warnings, did: string): void {
  const instead = 'such refusals have the usual body';
  warnings.once('refusal', `The function of the option refusal ${did}; ${instead}`);
}
