import type { AbstractHttpAdapter } from '@nestjs/core';
import type { HttpRequest, HttpResponse } from '../http-platform.js';

/** On a request of Fastify: its reply. */
const REPLY = Symbol.for('nestjs-doorman:reply');

/** The reply to a request, where `keepReplies` was called. */
export function replyTo(request: HttpRequest): HttpResponse | undefined {
  return request[REPLY];
}

/**
 * Lets the reply be found from the request on Fastify, for headers: Apollo's driver hands resolvers
 * the request alone. Before the routes are mapped.
 */
export function keepReplies(adapter: AbstractHttpAdapter | undefined): void {
  if (adapter?.getType() !== 'fastify') return;
  adapter
    .getInstance()
    .addHook('onRequest', (request: HttpRequest, reply: HttpResponse, done: () => void) => {
      request[REPLY] = reply;
      done();
    });
}
