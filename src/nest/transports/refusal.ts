import type { Decision } from '../../core/index.js';
import { refusalBody } from '../../http/refusal-body.js';
import { unavailableBody } from '../../http/unavailable-body.js';
import { createRefusal, withoutStack } from '../exceptions.js';

/** An exception of a package that applications have only where they use its transport. */
type ExceptionClass = new (error: object) => Error;

/** A refusal as sockets and messages tell it: the body of the 429, marked as Nest marks errors. */
export interface RefusalMessage extends Readonly<Record<string, unknown>> {
  readonly status: 'error';
}

export function refusalMessage(decision: Decision): RefusalMessage {
  const body = decision.reason === 'store' ? unavailableBody(decision) : refusalBody(decision);
  return { status: 'error', ...body };
}

/**
 * Refuses by the exception that the filters of a transport know: loaded at the first refusal, since
 * the package is there only where the transport is.
 */
export class TransportRefusal {
  private known: ExceptionClass | undefined;
  private loading: Promise<void> | undefined;

  constructor(private readonly load: () => Promise<ExceptionClass>) {}

  /** Throws, or rejects with it. It has `decision`, `policy` and `retryAfterMillis`, too. */
  refuse(decision: Decision, message: RefusalMessage): Promise<never> {
    if (this.known) throw create(this.known, decision, message);
    this.loading ??= this.load().then((type) => {
      this.known = type;
    });
    return this.loading.then(
      () => {
        throw create(this.known!, decision, message);
      },
      // Such a context can then be none of that package.
      () => {
        throw createRefusal(decision);
      },
    );
  }
}

function create(type: ExceptionClass, decision: Decision, message: RefusalMessage): Error {
  const { policy, retryAfterMillis } = decision;
  return withoutStack(() =>
    Object.assign(new type(message), { decision, policy, retryAfterMillis }),
  );
}
