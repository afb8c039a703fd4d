import type { RawResponse } from './outlay.js';
import type { Closing } from './transports/leaving.js';

/**
 * What the guard needs of an HTTP framework: one small object each, and the only places that know
 * how their requests look.
 */
export interface HttpPlatform {
  /** The template that the router matched, as the framework spells it. */
  template(request: HttpRequest): string | undefined;
  method(request: HttpRequest): string;
  /** As somebody set it before: one value, several, or none. */
  getHeader(response: HttpResponse, name: string): unknown;
  setHeader(response: HttpResponse, name: string, value: string): void;
  removeHeader(response: HttpResponse, name: string): void;
  /** Node's own response. */
  raw(response: HttpResponse): RawResponse & Closing;
  /** Whom `req.ip` believes: nobody, some, or every proxy that a request claims. */
  trust(request: HttpRequest): 'none' | 'some' | 'all';
}

// biome-ignore lint/suspicious/noExplicitAny: requests of frameworks that are not imported here
export type HttpRequest = any;
// biome-ignore lint/suspicious/noExplicitAny: the same of responses
export type HttpResponse = any;

const express: HttpPlatform = {
  template: (request) => {
    const path = request.route?.path;
    return typeof path === 'string' ? (request.baseUrl ?? '') + path : undefined;
  },
  method: (request) => request.method,
  getHeader: (response, name) => response.getHeader(name),
  setHeader: (response, name, value) => response.setHeader(name, value),
  removeHeader: (response, name) => response.removeHeader(name),
  raw: (response) => response,
  trust: (request) => {
    const trusted = request.app?.get?.('trust proxy');
    return trusted === true ? 'all' : trusted ? 'some' : 'none';
  },
};

const fastify: HttpPlatform = {
  template: (request) => request.routeOptions?.url,
  method: (request) => request.method,
  getHeader: (response, name) => response.getHeader(name),
  setHeader: (response, name, value) => response.header(name, value),
  removeHeader: (response, name) => response.removeHeader(name),
  raw: (response) => response.raw,
  // The setting cannot be read; a chain of addresses for documentation (RFC 5737), which nobody
  // names as proxies and which is longer than any number of hops, shows it.
  trust: (request) => {
    if (request.ips === undefined) return 'none';
    const chain = Array.from({ length: 64 }, (_, i) => `203.0.113.${i + 1}`);
    const headers = { 'x-forwarded-for': chain.join(', ') };
    const raw = { headers, socket: { remoteAddress: '203.0.113.254' } };
    return Object.create(request, { raw: { value: raw } }).ip === '203.0.113.1' ? 'all' : 'some';
  },
};

/** The platform that a response belongs to: Fastify's reply has the raw response inside. */
export function platformOf(response: HttpResponse): HttpPlatform {
  return typeof response?.setHeader === 'function' ? express : fastify;
}
