import { type Decision, rulesOf } from '../core/decision.js';
import { refusalBody } from './refusal-body.js';
import { unavailableBody } from './unavailable-body.js';

/** The media type of a problem. */
export const PROBLEM_TYPE = 'application/problem+json';

/** A refusal as a problem (RFC 9457). */
export interface ProblemBody {
  readonly type: string;
  /** Says the same of every problem of this type. */
  readonly title: string;
  readonly status: 429 | 503;
  readonly detail: string;
  /** The names of the rules that refused, as the headers have them. Of a 429. */
  readonly 'violated-policies'?: readonly string[];
  /** When to come back; left out when it never helps. */
  readonly retryAfterMillis?: number;
}

/**
 * The problem type that the drafts of the RateLimit headers define for a quota that is used up. For a
 * store that cannot be asked they have none: nobody's quota is violated, nor is it lowered, which is
 * what their `temporary-reduced-capacity` says. That is a 503 and no more, so `about:blank`, whose
 * title is the status' own.
 */
export function problemBody(decision: Decision): ProblemBody {
  if (decision.reason === 'store') {
    const { message: detail, retryAfterMillis } = unavailableBody(decision);
    const title = 'Service Unavailable';
    return { type: 'about:blank', title, status: 503, detail, retryAfterMillis };
  }
  const { message: detail, retryAfterMillis } = refusalBody(decision);
  return {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    status: 429,
    detail,
    'violated-policies': violatedBy(decision),
    ...(retryAfterMillis !== undefined && { retryAfterMillis }),
  };
}

/** Of a block no rule's own numbers say it: then the policy. */
function violatedBy(decision: Decision): readonly string[] {
  const refusing = rulesOf(decision).filter(({ allowed }) => !allowed);
  return refusing.length > 0 ? refusing.map(({ name }) => name) : [decision.policy];
}
