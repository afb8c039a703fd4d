import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { type Item, parseDictionary, parseItem, parseList } from 'structured-headers';
import { LimiterFactory } from '../../src/core/limiter-factory.js';
import { contradiction, HEADER_DIALECTS } from '../../src/http/headers/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { holds } from '../laws/support.js';
import { decision, joined } from './decisions.js';

const { ietf, legacy } = HEADER_DIALECTS;
const draft6 = HEADER_DIALECTS['draft-6'];
const draft7 = HEADER_DIALECTS['draft-7'];
const draft8 = HEADER_DIALECTS['draft-8'];

/** A list of items as pairs of value and parameters. */
const list = (text = '') =>
  parseList(text).map(([value, parameters]) => [value, Object.fromEntries(parameters)]);

/** 5 in 10 s of which 4 are left, and 100 a day of which 50 are. */
const BURST = { name: 'burst', resetAfterMillis: 2000 };
const DAY = { name: 'day', limit: 100, windowMillis: 86_400_000, remaining: 50 };

describe('the headers of draft 8', () => {
  it('name the policy, and tell when it is as good as new', () => {
    expect(draft8(decision())).toEqual({
      'RateLimit-Policy': '"default";q=5;w=10',
      RateLimit: '"default";r=4;t=9',
    });
  });

  it('tell each rule of several', () => {
    expect(draft8(joined(BURST, DAY))).toEqual({
      'RateLimit-Policy': '"burst";q=5;w=10, "day";q=100;w=86400',
      RateLimit: '"burst";r=4;t=2, "day";r=50;t=9',
    });
  });

  it('say of a full counter that it is as good as new', () => {
    const limiter = new LimiterFactory(new FakeClock()).create('token-bucket,5,10');
    expect(draft8(limiter.tryAcquire(0)).RateLimit).toBe('"limiter";r=5;t=0');
  });

  it('write names of any script', () => {
    expect(draft8(decision({ name: '/b"ü' })).RateLimit).toBe('"/b\\"%C3%BC";r=4;t=9');
  });
});

describe('the headers of draft 7', () => {
  it('tell limit, remaining and reset in one', () => {
    expect(draft7(decision())).toEqual({
      'RateLimit-Policy': '5;w=10',
      RateLimit: 'limit=5, remaining=4, reset=9',
    });
  });

  it('tell all policies, and the three numbers of the limit that is used up first', () => {
    expect(draft7(joined(DAY, BURST))).toEqual({
      'RateLimit-Policy': '100;w=86400, 5;w=10',
      RateLimit: 'limit=5, remaining=4, reset=2',
    });
  });

  it('tell of limits of which as much is left the one that lasts longer', () => {
    const lasting = { limit: 9, windowMillis: 60_000, resetAfterMillis: 50_000 };
    for (const rules of [
      [BURST, lasting],
      [lasting, BURST],
    ]) {
      expect(draft7(joined(...rules)).RateLimit).toBe('limit=9, remaining=4, reset=50');
    }
  });

  it('tell of a refusal the limit of which the least is left, though another waits longer', () => {
    const refused = {
      allowed: false,
      remaining: 1,
      retryAfterMillis: 1000,
      resetAfterMillis: 3000,
    };
    const slow = { ...DAY, allowed: false, remaining: 2, retryAfterMillis: 9000 };
    expect(draft7(joined(slow, refused)).RateLimit).toBe('limit=5, remaining=1, reset=3');
  });
});

describe('the headers of draft 6', () => {
  it('tell each number in a header of its own', () => {
    expect(draft6(decision())).toEqual({
      'RateLimit-Policy': '5;w=10',
      'RateLimit-Limit': '5',
      'RateLimit-Remaining': '4',
      'RateLimit-Reset': '9',
    });
  });

  it('tell all policies, and the three numbers of the limit that is used up first', () => {
    expect(draft6(joined(DAY, BURST))).toEqual({
      'RateLimit-Policy': '100;w=86400, 5;w=10',
      'RateLimit-Limit': '5',
      'RateLimit-Remaining': '4',
      'RateLimit-Reset': '2',
    });
  });

  it('tell each quota once, as the draft has it, with the longest of its windows', () => {
    const policies = (...windows: number[]) =>
      draft6(joined(...windows.map((windowMillis) => ({ windowMillis }))))['RateLimit-Policy'];
    expect(policies(1000, 60_000)).toBe('5;w=60');
    expect(policies(60_000, 1000)).toBe('5;w=60');
    expect(policies(500, 250)).toBe('5');
  });
});

describe.each([
  ['draft-8', '"default";q=5', draft8],
  ['draft-7', '5', draft7],
  ['draft-6', '5', draft6],
] as const)('the policy of %s', (_, policy, dialect) => {
  it.each([
    [1, ''],
    [999, ''],
    [1000, ';w=1'],
    [1001, ';w=2'],
    [365 * 86_400_000, ';w=31536000'],
  ])('tells a window of %d ms as %j: whole seconds, none below one', (windowMillis, window) => {
    expect(dialect(decision({ windowMillis }))['RateLimit-Policy']).toBe(policy + window);
  });
});

describe('all drafts', () => {
  it.each([
    [0, 0],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [86_400_001, 86_401],
  ])('tell a reset after %d ms as %d s, rounded up', (resetAfterMillis, seconds) => {
    const given = decision({ resetAfterMillis });
    expect(draft8(given).RateLimit).toBe(`"default";r=4;t=${seconds}`);
    expect(draft7(given).RateLimit).toBe(`limit=5, remaining=4, reset=${seconds}`);
    expect(draft6(given)['RateLimit-Reset']).toBe(String(seconds));
  });

  const upTo = (max: number) => fc.integer({ min: 0, max });
  const millis = fc.oneof(upTo(3000), upTo(365 * 86_400_000));
  const rules = fc.array(
    fc.record({
      name: fc.string({ unit: 'binary' }),
      limit: fc.oneof(upTo(3), upTo(Number.MAX_SAFE_INTEGER)).map((limit) => limit + 1),
      remaining: fc.oneof(upTo(3), upTo(Number.MAX_SAFE_INTEGER)),
      windowMillis: millis.map((window) => window + 1),
      resetAfterMillis: millis,
    }),
    { minLength: 1, maxLength: 4 },
  );
  const whole = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

  it('write structured fields that Node sends, whatever the names and numbers are', () => {
    holds(
      1000,
      fc.property(rules, (given) => {
        const told = joined(...given);
        for (const dialect of [draft8, draft7, draft6]) {
          for (const value of Object.values(dialect(told))) validateHeaderValue('RateLimit', value);
        }
        const named = given.map(({ resetAfterMillis }) => Math.ceil(resetAfterMillis / 1000));
        const { RateLimit: eighth } = draft8(told);
        expect(list(eighth).map(([, parameters]) => Object(parameters).t)).toEqual(named);
        expect(list(draft8(told)['RateLimit-Policy'])).toHaveLength(given.length);
        const seventh = parseDictionary(draft7(told).RateLimit ?? '');
        expect([...seventh.keys()]).toEqual(['limit', 'remaining', 'reset']);
        const sixth = ['Limit', 'Remaining', 'Reset'].map((name) =>
          parseItem(draft6(told)[`RateLimit-${name}`] ?? ''),
        );
        const items = [...(seventh.values() as Iterable<Item>)];
        expect(items).toEqual(sixth);
        for (const [value, parameters] of items) {
          expect(whole(value)).toBe(true);
          expect(parameters.size).toBe(0);
        }
        const policies = list(draft7(told)['RateLimit-Policy']);
        const quotas = policies.map(([quota]) => quota);
        expect(quotas.every(whole)).toBe(true);
        expect(new Set(quotas).size).toBe(quotas.length);
        expect(quotas).toContain(sixth[0]?.[0]);
      }),
    );
  });
});

describe('dialects that write one header', () => {
  it('get on where they write the same there', () => {
    expect(contradiction({ draft7, draft6 })).toBeUndefined();
    expect(contradiction({ ietf, legacy })).toBeUndefined();
    expect(contradiction({ draft6, legacy, draft7 })).toBeUndefined();
    expect(contradiction({ legacy })).toBeUndefined();
    expect(contradiction({})).toBeUndefined();
  });

  it('contradict each other where they write something else', () => {
    const of = (header: string, ...dialects: string[]) => ({ header, dialects });
    expect(contradiction({ ietf, draft8 })).toEqual(of('RateLimit', 'ietf', 'draft8'));
    expect(contradiction({ legacy, draft8, draft7 })).toEqual(
      of('RateLimit-Policy', 'draft8', 'draft7'),
    );
    expect(contradiction({ draft6, ietf })).toEqual(of('RateLimit-Policy', 'draft6', 'ietf'));
    expect(contradiction({ ietf, draft7 })).toEqual(of('RateLimit-Policy', 'ietf', 'draft7'));
  });
});
