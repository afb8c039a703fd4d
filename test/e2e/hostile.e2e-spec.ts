import { type OutgoingHttpHeaders, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { All, Body, Controller, Get, Param, Post } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { RateLimit } from 'nestjs-doorman';
import { ADAPTERS, type AdapterName, type Running, start } from './support.js';

/** A generator of the same numbers on every run (mulberry32), so that a failure happens again. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

@Controller()
class Shop {
  @Get('orders')
  list() {
    return [];
  }

  @Get('orders/:id')
  find(@Param('id') id: string) {
    return { id };
  }

  @RateLimit('sliding-window,1,10', 'token-bucket,1000,1m,by=ip,name=address')
  @Post('orders')
  place(@Body() body: unknown) {
    return { body };
  }

  @All('files/*')
  file() {
    return {};
  }
}

const BOOK = {
  default: 'token-bucket,1,10',
  api: { '/orders/:id': 'fixed-window,1,10', 'POST /files/*': 'sliding-window-counter,1,10' },
  user: {
    ['__proto__']: 'fixed-window,3,10',
    constructor: 'fixed-window,3,10',
    'vip-1': 'token-bucket,9,10',
  },
};

const PATHS = [
  '/orders',
  '/orders/',
  '//orders',
  '/ORDERS',
  '/orders?x=1&x=2&__proto__[a]=1',
  '/orders/1',
  '/orders/%00',
  '/orders/%',
  '/orders/%zz',
  '/orders/%E0%A4%A',
  '/orders/%C0%AE%C0%AE',
  '/orders/%ED%A0%80',
  '/orders/..%2f..%2fetc',
  '/orders/../health',
  '/orders/__proto__',
  '/orders/constructor',
  `/orders/${'a'.repeat(4000)}`,
  `/orders/${'%F0%9F%8D%B5'.repeat(200)}`,
  '/orders;a=b',
  '/files/',
  '/files/a/b/c',
  '/files/%2e%2e/%2e%2e',
  '/files/*',
  '/*',
  '*',
  '/',
  '/?',
  '/.',
  '/orders#a',
  'http://elsewhere.example/orders',
  '/orders/:id',
  '/nowhere',
] as const;

const METHODS = [
  ...['GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  ...['TRACE', 'PROPFIND', 'MKCOL', 'PURGE', 'REPORT', 'SEARCH', 'LINK', 'QUERY', 'M-SEARCH'],
];

const TEXTS = [
  '',
  ' ',
  'alice',
  'vip-1',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e999',
  '"quoted"; r=1',
  '\\',
  ',,,,',
  'a\tb',
  '\u0080\u0081\u00ff',
  'é'.normalize('NFC'),
  '%0d%0aSet-Cookie: a=b',
  '{"id":"alice"}',
  'x'.repeat(6000),
  '@127.0.0.1',
  '=@',
  '1.2.3.4',
];

const ADDRESSES = [
  '1.2.3.4',
  '1.2.3.4, 5.6.7.8',
  '1.2.3.4:99999',
  '999.1.1.1',
  '010.0.0.1',
  '::1',
  '::ffff:1.2.3.4',
  '::ffff:999.2.3.4',
  '[::1]:80',
  '[::1',
  'fe80::1%eth0',
  '2001:db8::1::2',
  ':'.repeat(300),
  'unknown',
  '_hidden',
  '"[2001:db8::1]"',
  ',,,',
  ' , ',
  '\u00a0',
  'a'.repeat(3000),
  '1.2.3.4\t',
  '__proto__',
];

const BODIES = [undefined, '', '{', '{}', '[]', 'null', '"text"', '{"__proto__":{"a":1}}', 'a=b'];
const TYPES = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', ';', 'a/b/c'];

interface OddRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | undefined;
}

function oddRequests(count: number, seed: number): OddRequest[] {
  const random = randomFrom(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const noise = () => {
    const length = Math.floor(random() * 40);
    const bytes = Array.from({ length }, () => one(['\t', ' ', '\u007f', '\u00ad']) + noiseChar());
    return bytes.join('').replace(/\u007f/g, '~');
  };
  const noiseChar = () => String.fromCharCode(32 + Math.floor(random() * 95));
  return Array.from({ length: count }, () => {
    const method = one(METHODS);
    const text = random() < 0.3 ? noise() : one(TEXTS);
    const headers: OutgoingHttpHeaders = { 'x-odd': one(TEXTS) };
    if (random() < 0.7) headers['authorization'] = random() < 0.5 ? `Bearer ${text}` : text;
    if (random() < 0.6) headers['x-forwarded-for'] = one(ADDRESSES);
    if (random() < 0.1) headers['x-forwarded-for'] = [one(ADDRESSES), one(ADDRESSES)];
    if (random() < 0.2) headers['host'] = one(['', 'a b', '[::1]:x', 'example.com:0', '__proto__']);
    const body = ['GET', 'HEAD', 'TRACE'].includes(method) ? undefined : one(BODIES);
    if (body !== undefined) {
      headers['content-type'] = one(TYPES);
      headers['content-length'] = Buffer.byteLength(body);
    }
    return { method, path: one(PATHS), headers, body };
  });
}

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
}

function ask(port: number, { method, path, headers, body }: OddRequest) {
  return new Promise<Answer>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent: false, method, path, headers };
    const req = send(options, (res) => {
      res.resume();
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers }));
      res.on('error', reject);
    });
    req.on('error', reject);
    req.end(body);
  });
}

function open(adapter: AdapterName, trust: boolean): Promise<Running> {
  const user = (req: { headers: Record<string, string | undefined> }) => {
    return req.headers['authorization']?.replace(/^Bearer /, '');
  };
  return start(adapter, {
    limits: { rules: BOOK, user, headers: ['ietf', 'legacy'] },
    controllers: [Shop],
    ...(adapter === 'fastify'
      ? { adapter: new FastifyAdapter({ trustProxy: trust }) }
      : { setUp: (app) => app.getHttpAdapter().getInstance().set('trust proxy', trust) }),
  });
}

const portOf = ({ app }: Running) => (app.getHttpServer().address() as AddressInfo).port;

/** Every header of ours is well formed, whatever came in. */
function faultOf({ status, headers }: Answer): string | undefined {
  const policy = headers['ratelimit-policy'];
  const limit = headers['ratelimit'];
  if (status >= 500) return `status ${status}`;
  if (
    policy !== undefined &&
    !/^"[ -~]+";q=\d+(;w=\d+)?(, "[ -~]+";q=\d+(;w=\d+)?)*$/.test(String(policy))
  )
    return `RateLimit-Policy: ${policy}`;
  if (limit !== undefined && !/^"[ -~]+";r=\d+;t=\d+(, "[ -~]+";r=\d+;t=\d+)*$/.test(String(limit)))
    return `RateLimit: ${limit}`;
  if (status === 429 && !/^[1-9]\d*$/.test(String(headers['retry-after']))) {
    return `Retry-After: ${headers['retry-after']}`;
  }
  return undefined;
}

describe.each(ADAPTERS)('500 odd requests on %s', (adapter) => {
  it.each([
    ['no proxy is trusted', false],
    ['every proxy is trusted', true],
  ])('never bring the limiter down where %s', async (_, trust) => {
    const app = await open(adapter, trust);
    const odd = oddRequests(500, trust ? 7 : 8);
    const statuses = new Map<number, number>();
    const faults: unknown[] = [];
    await Promise.all(
      odd.map(async (request) => {
        const fault = await ask(portOf(app), request).then(
          (answer) => {
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
            return faultOf(answer);
          },
          (error: Error) => error.message,
        );
        if (fault) faults.push([request, fault]);
      }),
    );
    expect(faults).toEqual([]);
    expect(statuses.get(200)).toBeGreaterThan(20);
    expect(statuses.get(429)).toBeGreaterThan(5);
    expect((await app.http.get('/orders').set('authorization', 'Bearer zoe')).status).toBe(200);
  });

  it('never bring it down where they are no HTTP at all', async () => {
    const app = await open(adapter, true);
    const lines = [
      'GET /orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\u0001b\r\n',
      'GET /orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\0b\r\n',
      'GET /orders HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \u0007\r\n',
      'GET /orders HTTP/1.1\r\nHost: a\r\nX-Forwarded-For:\r\n',
      'GET /orders HTTP/1.0\r\n',
      'GET /orders/\u00ff HTTP/1.1\r\nHost: a\r\n',
      'GET orders HTTP/1.1\r\nHost: a\r\n',
      'get /orders HTTP/1.1\r\nHost: a\r\n',
      'GET /orders HTTP/9.9\r\nHost: a\r\n',
      'GET  HTTP/1.1\r\nHost: a\r\n',
      '\r\n',
    ];
    const answers = await Promise.all(
      lines.map((line) => raw(portOf(app), `${line}Connection: close\r\n\r\n`)),
    );
    expect(answers.filter((answer) => /^HTTP\/1\.\d 5/.test(answer))).toEqual([]);
    expect((await app.http.get('/orders').set('authorization', 'Bearer zoe')).status).toBe(200);
  });
});

/** Sends bytes as they are; what came back until the connection closed. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(text, 'latin1'));
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', () => resolve(answer));
    socket.on('close', () => resolve(answer));
  });
}
