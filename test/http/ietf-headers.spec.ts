import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { joinDecisions, type RuleDecision } from '../../src/core/decision.js';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { HEADER_DIALECTS } from '../../src/http/headers/index.js';
import { structuredString } from '../../src/http/structured-string.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { holds } from '../laws/support.js';
import { decision, rule } from './decisions.js';

const { ietf } = HEADER_DIALECTS;

describe('the headers of the IETF draft', () => {
  it('tell the capacity, its window, what is left and when there is more', () => {
    expect(ietf(decision())).toEqual({
      'RateLimit-Policy': '"default";q=5;w=10',
      RateLimit: '"default";r=4;t=2',
    });
  });

  it('are those of a real decision', () => {
    const clock = new FakeClock(5000);
    const limiter = new LimiterFactory(clock).create(
      'token-bucket,5,10,name=burst & fixed-window,100,1d,name=day & sliding-window,50,1m',
    );
    for (let i = 0; i < 6; i++) limiter.tryAcquire();
    clock.advance(500);
    expect(ietf(limiter.tryAcquire())).toEqual({
      'RateLimit-Policy': '"burst";q=5;w=10, "day";q=100;w=86400, "limiter-3";q=50;w=60',
      RateLimit: '"burst";r=0;t=2, "day";r=95;t=86395, "limiter-3";r=45;t=60',
    });
  });

  it.each([
    [1, ''],
    [250, ''],
    [999, ''],
    [1000, ';w=1'],
    [1001, ';w=2'],
    [1999, ';w=2'],
    [2000, ';w=2'],
    [365 * 86_400_000, ';w=31536000'],
  ])('tell a window of %d ms as %j: whole seconds, none below one', (windowMillis, window) => {
    expect(ietf(decision({ windowMillis }))['RateLimit-Policy']).toBe(`"default";q=5${window}`);
  });

  it.each([
    [0, 0],
    [1, 1],
    [999, 1],
    [1000, 1],
    [1001, 2],
    [86_400_001, 86_401],
  ])('tell %d ms until there is more as %d s', (moreAfterMillis, seconds) => {
    expect(ietf(decision({ moreAfterMillis })).RateLimit).toBe(`"default";r=4;t=${seconds}`);
  });

  it('tell when there is more, neither when all is reset nor when to come back', () => {
    const { RateLimit } = ietf(
      decision({
        remaining: 0,
        moreAfterMillis: 3000,
        resetAfterMillis: 7000,
        retryAfterMillis: 5000,
      }),
    );
    expect(RateLimit).toBe('"default";r=0;t=3');
  });

  it('tell the numbers of this decision, whatever its name stood for before', () => {
    const policyOf = (given: Partial<RuleDecision>) => ietf(decision(given))['RateLimit-Policy'];
    expect(policyOf({ name: 'a', limit: 5, windowMillis: 9000 })).toBe('"a";q=5;w=9');
    expect(policyOf({ name: 'a', limit: 7, windowMillis: 9000 })).toBe('"a";q=7;w=9');
    expect(policyOf({ name: 'a', limit: 7, windowMillis: 8000 })).toBe('"a";q=7;w=8');
    expect(policyOf({ name: 'b', limit: 7, windowMillis: 8000 })).toBe('"b";q=7;w=8');
  });

  it('tell names without number', () => {
    for (let i = 0; i < 2500; i++) {
      expect(ietf(decision({ name: `p${i % 1700}` })).RateLimit).toBe(`"p${i % 1700}";r=4;t=2`);
    }
  });

  it('tell all rules of an answer in one list', () => {
    const joined = joinDecisions([
      rule({ name: 'a', limit: 1, remaining: 0, windowMillis: 500, moreAfterMillis: 100 }),
      rule({ name: 'b', limit: 1000, remaining: 999, windowMillis: 60_000 }),
    ]);
    expect(ietf(joined)).toEqual({
      'RateLimit-Policy': '"a";q=1, "b";q=1000;w=60',
      RateLimit: '"a";r=0;t=1, "b";r=999;t=2',
    });
  });

  it.each([
    ['search', '"search"'],
    ['', '""'],
    ['user:vip 1.api./login', '"user:vip 1.api./login"'],
    ['api:GET /a,b;c=d', '"api:GET /a,b;c=d"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['corp\\alice', '"corp\\\\alice"'],
    ['\\"', '"\\\\\\""'],
    ['/bücher', '"/b%C3%BCcher"'],
    ['用户', '"%E7%94%A8%E6%88%B7"'],
    ['😀', '"%F0%9F%98%80"'],
    ['"ü"', '"\\"%C3%BC\\""'],
    ['a\ud83d', '"a%EF%BF%BD"'],
    ['\udc00b', '"%EF%BF%BDb"'],
    ['a\r\nSet-Cookie: x', '"a%0D%0ASet-Cookie: x"'],
    ['\u0000\u007f', '"%00%7F"'],
    ['100%', '"100%"'],
  ])('write the name %j as %s', (name, written) => {
    expect(structuredString(name)).toBe(written);
    expect(ietf(decision({ name }))).toEqual({
      'RateLimit-Policy': `${written};q=5;w=10`,
      RateLimit: `${written};r=4;t=2`,
    });
  });

  const name = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('"', '\\', ',', ';', '=', '%', '\n', 'ü', '\ud800'), { size: 'small' })
      .map((parts) => parts.join('')),
  );
  const upTo = (max: number) => fc.integer({ min: 0, max });
  const rules = fc.array(
    fc.record({
      name,
      limit: fc.integer({ min: 1, max: 1e15 - 1 }),
      remaining: upTo(1e15 - 1),
      windowMillis: fc.oneof(fc.integer({ min: 1, max: 3000 }), upTo(365 * 86_400_000)),
      moreAfterMillis: fc.oneof(upTo(3000), upTo(365 * 86_400_000)),
    }),
    { minLength: 1, maxLength: 4 },
  );

  it('are structured fields that Node sends, whatever the names and numbers are', () => {
    holds(
      1000,
      fc.property(rules, (given) => {
        const all = given.map(rule);
        const headers = ietf(all.length === 1 ? decision(given[0]) : joinDecisions(all));
        for (const value of Object.values(headers)) {
          expect(() => validateHeaderValue('RateLimit', value)).not.toThrow();
        }
        const names: string[] = [];
        const read = (text = '') =>
          parseList(text).map(([value, parameters]) => {
            expect(typeof value).toBe('string');
            names.push(String(value));
            return Object.fromEntries(parameters);
          });
        expect(read(headers['RateLimit-Policy'])).toEqual(
          all.map(({ limit, windowMillis }) => {
            return { q: limit, ...(windowMillis >= 1000 && { w: Math.ceil(windowMillis / 1000) }) };
          }),
        );
        expect(read(headers['RateLimit'])).toEqual(
          all.map(({ remaining, moreAfterMillis }) => {
            return { r: remaining, t: Math.ceil(moreAfterMillis / 1000) };
          }),
        );
        const readable = (text: string) => !/[%\ud800-\udfff]/u.test(text);
        for (const [i, written] of names.entries()) {
          const name = all[i % all.length]?.name ?? '';
          if (readable(name)) expect(decodeURIComponent(written)).toBe(name);
        }
      }),
    );
  });

  it('are structured fields also for the largest limit a rule may have', () => {
    const limiter = new LimiterFactory(new FakeClock()).create('fixed-window,9007199254740991,10');
    for (const value of Object.values(ietf(limiter.tryAcquire()))) {
      expect(() => parseList(value)).not.toThrow();
    }
  });
});
