/*
 * Microservices: messages that are answered, and events that are not, by whatever transport of
 * Nest. A message over TCP has the address of its sender; one from a queue has none.
 */
import type { ExecutionContext } from '@nestjs/common';
import type { Decision, MaybePromise } from '../../core/index.js';
import type { AttemptHolder } from '../attempt.js';
import type { RateLimitEvents } from '../events.js';
import { createRefusal } from '../exceptions.js';
import type { Leaving } from '../waiting.js';
import type { Call } from './call.js';
import { leavingOf, neverLeaving } from './leaving.js';
import { refusalMessage, TransportRefusal } from './refusal.js';

/** Metadata keys of Nest's own decorators. */
const PATTERN = 'microservices:pattern';
const KIND = 'microservices:handler_type';
/** The value of it for events. */
const EVENT = 2;

/** The codes of gRPC (google.rpc.Code). */
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;

/** How the contexts of the transports tell what they were sent under. */
const PATTERN_GETTERS = ['getPattern', 'getSubject', 'getTopic', 'getChannel'];

const refusal = new TransportRefusal(
  async () => (await import('@nestjs/microservices')).RpcException,
);

export class MessageCall implements Call {
  // biome-ignore lint/suspicious/noExplicitAny: the context of a transport that is not imported here
  readonly request: any;

  constructor(
    readonly context: ExecutionContext,
    private readonly events: RateLimitEvents,
  ) {
    this.request = context.getArgByIndex(1) ?? {};
  }

  get holder(): AttemptHolder {
    return this.context.getArgs() as AttemptHolder;
  }

  get ownHolder(): AttemptHolder {
    return this.holder;
  }

  method(): undefined {
    return undefined;
  }

  /** One of the handler's own patterns, never a text of the sender's. */
  template(): string | undefined {
    const patterns = patternsOf(this.context.getHandler());
    if (patterns.length < 2) return patterns[0];
    const sent = PATTERN_GETTERS.map((getter) => this.request[getter]?.());
    return patterns.find((pattern) => sent.some((one) => isSent(one, pattern))) ?? patterns[0];
  }

  principal(): unknown {
    return this.request.user;
  }

  address(): unknown {
    return this.socket()?.remoteAddress;
  }

  isGone(): boolean {
    return this.socket()?.destroyed === true;
  }

  forwarded(): undefined {
    return undefined;
  }

  leaving(): Leaving {
    const socket = this.socket();
    return socket ? leavingOf(socket) : neverLeaving();
  }

  watch(): boolean {
    return false;
  }

  /**
   * Nobody waits for the answer to an event: it is dropped, with an event of ours, and by an
   * exception that Nest does not log, as it would fill the log under a flood.
   */
  tell(decision: Decision): MaybePromise<true> {
    if (decision.allowed) return true;
    if (Reflect.getMetadata(KIND, this.context.getHandler()) === EVENT) {
      this.events.emit({ type: 'event-refused', api: this.template() ?? '', decision });
      throw createRefusal(decision);
    }
    const message = refusalMessage(decision);
    if (!this.isGrpc()) return refusal.refuse(decision, message);
    const code = decision.reason === 'store' ? UNAVAILABLE : RESOURCE_EXHAUSTED;
    return refusal.refuse(decision, { ...message, code });
  }

  untell(): void {
    // Nothing was told.
  }

  // biome-ignore lint/suspicious/noExplicitAny: Node's socket, if it is one
  private socket(): any {
    return this.request.getSocketRef?.()?.socket;
  }

  private isGrpc(): boolean {
    return rawPatternsOf(this.context.getHandler()).some(isGrpcPattern);
  }
}

/** The patterns of a message handler as texts; none for any other method. */
export function patternsOf(handler: object): string[] {
  return rawPatternsOf(handler).map(patternText);
}

function rawPatternsOf(handler: object): readonly unknown[] {
  return Reflect.getMetadata(PATTERN, handler) ?? [];
}

/** As Nest spells it: an object by its keys in order; a method of gRPC as `Service.method`. */
function patternText(pattern: unknown): string {
  if (isGrpcPattern(pattern)) return `${pattern.service}.${pattern.rpc}`;
  return typeof pattern === 'object' ? JSON.stringify(sorted(pattern)) : String(pattern);
}

function isGrpcPattern(pattern: unknown): pattern is { service: string; rpc: string } {
  return (
    typeof pattern === 'object' && pattern !== null && 'service' in pattern && 'rpc' in pattern
  );
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted((value as never)[key])]));
}

/** TCP sends objects as JSON, in whatever order. */
function isSent(sent: unknown, pattern: string): boolean {
  if (sent === pattern) return true;
  if (typeof sent !== 'string' || !sent.startsWith('{')) return false;
  try {
    return patternText(JSON.parse(sent)) === pattern;
  } catch {
    return false;
  }
}
