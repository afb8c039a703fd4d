/*
 * Gateways on socket.io and ws. Each message is an attempt of its own, and the socket stays open
 * whatever comes. Sockets know no trusted proxy: their address is the connection's, or what the
 * option `address` says.
 */
import type { ExecutionContext } from '@nestjs/common';
import type { Decision, MaybePromise } from '../../core/index.js';
import type { AttemptHolder } from '../attempt.js';
import type { Leaving } from '../waiting.js';
import type { Call, ProxyTrust } from './call.js';
import { leavingOf } from './leaving.js';
import { refusalMessage, TransportRefusal } from './refusal.js';

/** Metadata keys of Nest's own decorators. */
const IS_GATEWAY = 'websockets:is_gateway';
const IS_MESSAGE = 'websockets:message_mapping';
const MESSAGE = 'message';

const refusal = new TransportRefusal(async () => (await import('@nestjs/websockets')).WsException);

export class WebSocketCall implements Call {
  // biome-ignore lint/suspicious/noExplicitAny: a socket of a library that is not imported here
  readonly request: any;
  private readonly remoteAddress: unknown;

  constructor(readonly context: ExecutionContext) {
    this.request = context.getArgByIndex(0);
    // Now, since it cannot be told any more once the socket is closed.
    this.remoteAddress = this.request?.handshake?.address ?? this.request?._socket?.remoteAddress;
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

  template(): string | undefined {
    return eventOf(this.context.getClass(), this.context.getHandler());
  }

  /** Where guards and middleware leave it: on the socket, or in socket.io's place for data. */
  principal(): unknown {
    return this.request?.user ?? this.request?.data?.user;
  }

  address(): unknown {
    return this.remoteAddress;
  }

  isGone(): boolean {
    const { disconnected, readyState } = this.request ?? {};
    return disconnected === true || readyState >= 2; // CLOSING, CLOSED
  }

  forwarded(): ProxyTrust | undefined {
    const isForwarded = this.request?.handshake?.headers?.['x-forwarded-for'] !== undefined;
    return isForwarded ? 'never' : undefined;
  }

  leaving(): Leaving {
    return leavingOf(this.request, this.request.handshake ? 'disconnect' : 'close', this.isGone());
  }

  watch(): boolean {
    return false;
  }

  tell(decision: Decision): MaybePromise<true> {
    if (decision.allowed) return true;
    const cause = { pattern: this.template() };
    return refusal.refuse(decision, { ...refusalMessage(decision), cause });
  }

  untell(): void {
    // Nothing was told.
  }
}

/** The event that a method of a gateway handles; undefined for any other method. */
export function eventOf(type: object, handler: object): string | undefined {
  if (!Reflect.getMetadata(IS_GATEWAY, type)) return undefined;
  if (!Reflect.getMetadata(IS_MESSAGE, handler)) return undefined;
  return String(Reflect.getMetadata(MESSAGE, handler));
}
