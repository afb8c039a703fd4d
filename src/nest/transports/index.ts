import type { ExecutionContext } from '@nestjs/common';
import type { ApiName } from '../../core/api-name.js';
import type { RateLimitEvents } from '../events.js';
import type { HttpAnswer } from '../http-answer.js';
import type { Call } from './call.js';
import { GraphqlCall, type GraphqlCounting, resolverOf } from './graphql.js';
import { HttpCall } from './http.js';
import { JointAnswer } from './joint-answer.js';
import { MessageCall, patternsOf } from './message.js';
import { eventOf, WebSocketCall } from './websocket.js';

export type { Call } from './call.js';
export { keepReplies } from './fastify-replies.js';
export { fieldsAreGuarded } from './graphql.js';

/** The transports: the one place that knows all of them. */
export class Transports {
  private readonly joint: JointAnswer;

  constructor(
    private readonly http: HttpAnswer,
    private readonly per: GraphqlCounting,
    private readonly events: RateLimitEvents,
  ) {
    this.joint = new JointAnswer(http);
  }

  /** What a context is about; undefined for one of a transport that is not known. */
  callOf(context: ExecutionContext): Call | undefined {
    switch (context.getType<string>()) {
      case 'http':
        return new HttpCall(context, this.http);
      case 'graphql':
        return new GraphqlCall(context, this.joint, this.per);
      case 'ws':
        return new WebSocketCall(context);
      case 'rpc':
        return new MessageCall(context, this.events);
      default:
        return undefined;
    }
  }
}

/** What a handler is to its transport. */
export interface Mapping {
  readonly transport: 'graphql' | 'ws' | 'rpc';
  /** What is asked for, as far as it can be told before anything comes. */
  readonly apis: readonly ApiName[];
  /** Whether it resolves a field, which is called for each item of a list. */
  readonly isField: boolean;
}

/** What a method handles besides HTTP; undefined for one that handles nothing. */
export function mappingOf(type: object, handler: object, name: string): Mapping | undefined {
  const patterns = patternsOf(handler);
  if (patterns.length > 0) return mapping('rpc', patterns);
  const event = eventOf(type, handler);
  if (event !== undefined) return mapping('ws', [event]);
  const resolver = resolverOf(type, handler, name);
  if (!resolver) return undefined;
  const { api, isField } = resolver;
  return mapping('graphql', api === undefined ? [] : [api], isField);
}

function mapping(
  transport: Mapping['transport'],
  names: readonly string[],
  isField = false,
): Mapping {
  return { transport, apis: names.map((name) => ({ name, method: undefined })), isField };
}
