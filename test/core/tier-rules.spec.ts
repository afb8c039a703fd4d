import { planCounters } from '../../src/core/counter-plan.js';
import { Faults } from '../../src/core/fault.js';
import { Policy } from '../../src/core/policy.js';
import { Rule } from '../../src/core/rule.js';
import { RuleBook } from '../../src/core/rule-book.js';
import { readTierAnswer, TierRules } from '../../src/core/tier-rules.js';
import { faultsOf } from './faults.js';

/** A rule that can be told from others by its limit. */
const rule = (limit: number) => `fixed-window,${limit},10`;

function read(answer: unknown) {
  const faults = new Faults();
  const tier = readTierAnswer(answer, faults);
  faults.throwIfAny();
  return tier;
}

function readRules(answer: unknown): TierRules {
  const tier = read(answer);
  if (!(tier instanceof TierRules)) throw new Error(`expected rules, got ${tier}`);
  return tier;
}

const empty = RuleBook.of({});
const winner = (answer: unknown, api = '/', book = empty) => book.lookUp('u', api, read(answer));
const textOf = (answer: unknown, api?: string) => winner(answer, api)?.policy.toString();

describe('the answer of a look-up of tiers', () => {
  it.each([
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
    [{ default: undefined, api: {} }, undefined],
    ['pro', 'pro'],
    ['  pro plan ', 'pro plan'],
    ['__proto__', '__proto__'],
    ['\ud800', '\ud800'],
  ])('is a name or none: %j', (answer, tier) => {
    expect(read(answer)).toBe(tier);
  });

  it.each([
    ['text', 'fixed-window,5,10', 'fixed-window,5,10s'],
    ['text of several rules', `${rule(5)} & ${rule(6)}`, 'fixed-window,5,10s & fixed-window,6,10s'],
    ['an object', { limit: 5, window: '1m' }, 'token-bucket,5,1m'],
    ['an object of text', { limit: '5', windowMillis: '250' }, 'token-bucket,5,250ms'],
    ['a rule', Rule.parse('fixed-window,5,10'), 'fixed-window,5,10s'],
    ['a policy', Policy.parse('fixed-window,5,10'), 'fixed-window,5,10s'],
    ['a list', [rule(5), { limit: 6, window: 10 }], 'fixed-window,5,10s & token-bucket,6,10s'],
    ['a small book', { default: rule(5) }, 'fixed-window,5,10s'],
  ])('is rules: %s', (_form, answer, text) => {
    expect(textOf(answer)).toBe(text);
    expect(readRules(answer).text).toBe(text);
  });

  it('is a small book, whose apis are found by any spelling', () => {
    const book = { api: { 'get  /b': rule(2), '/a': rule(1) }, default: rule(3) };
    expect(textOf(book, 'POST /a')).toBe('fixed-window,1,10s');
    expect(textOf(book, 'HEAD /b')).toBe('fixed-window,2,10s');
    expect(textOf(book, '/b')).toBe('fixed-window,3,10s');
    expect(readRules(book).text).toBe(
      'default = fixed-window,3,10s; api./a = fixed-window,1,10s; api.GET /b = fixed-window,2,10s',
    );
    expect(winner({ api: book.api }, '/c')).toBeUndefined();
  });

  it('counts at places that no book has, under one name', () => {
    const book = { default: rule(3), api: { 'get  /b': rule(2), '/a': rule(1) } };
    const placed = readRules(book).entries.map((entry) => entry.placed);
    expect(placed.map(({ place }) => place)).toEqual(['tier', 'tier.api./a', 'tier.api.GET /b']);
    expect(placed.map(({ label }) => label)).toEqual(['tier', 'tier', 'tier']);
  });

  it('keeps its counters when the limit changes', () => {
    const idsOf = (answer: unknown) => planCounters(winner(answer)!).map(({ id }) => id);
    expect(idsOf(rule(5))).toEqual(idsOf({ default: rule(6) }));
    expect(idsOf(rule(5))).not.toEqual(idsOf('fixed-window,5,11'));
  });

  it('is one object for equal rules, however they are written', () => {
    const rules = read('fixed-window, 7,10s');
    expect(read('fixed-window, 7,10s')).toBe(rules);
    expect(read('fixed-window,7,10000ms')).toBe(rules);
    expect(read({ algorithm: 'fixed-window', limit: 7, window: 10 })).toBe(rules);
    expect(read({ algorithm: 'fixed-window', limit: 7, window: 10 })).toBe(rules);
    expect(read(Policy.parse('fixed-window,7,10'))).toBe(rules);
    expect(read({ default: ['fixed-window,7,10'] })).toBe(rules);
    expect(read('fixed-window,8,10')).not.toBe(rules);
    const book = read({ default: rule(1), api: { '/a': rule(2), '/b': rule(3) } });
    expect(read({ api: { '/b': rule(3), '/a': rule(2) }, default: rule(1) })).toBe(book);
    expect(read({ api: { '/b': rule(2), '/a': rule(3) }, default: rule(1) })).not.toBe(book);
  });

  it('is read anew when an object says something else by now', () => {
    const limits = { limit: 5, window: 10 };
    expect(textOf(limits)).toBe('token-bucket,5,10s');
    limits.limit = 6;
    expect(textOf(limits)).toBe('token-bucket,6,10s');
  });

  it('is what it says, and not what it looks like as JSON', () => {
    class Row {
      readonly window = 10;

      constructor(readonly limit: number) {}
    }
    Object.defineProperty(Row.prototype, 'toJSON', { value: () => ({ limit: 5, window: 10 }) });
    expect(textOf(new Row(7))).toBe('token-bucket,7,10s');
    expect(textOf(new Row(8))).toBe('token-bucket,8,10s');
    expect(read({})).toBeUndefined();
    for (const faulty of [
      new Map([['default', rule(5)]]),
      new Set([rule(5)]),
      { limit: 5, window: 10, toJSON: () => ({ limit: 5, window: 10 }) },
      { limit: 5, window: 10, burst: () => 5 },
      { default: new Map() },
    ]) {
      expect(faultsOf(() => read(faulty)).length).toBeGreaterThan(0);
    }
  });

  it('is not taken for rules that were read before by a text that is none', () => {
    read({ default: rule(5), api: { '/a': rule(6) } });
    const text = JSON.stringify([
      [null, 'fixed-window,5,10s'],
      ['/a', 'fixed-window,6,10s'],
    ]);
    expect(faultsOf(() => read(text))[0]).toMatchObject({ code: 'RULE_ALGORITHM' });
  });

  it('forgets rules when there are too many different ones', () => {
    const rules = read(rule(1_000_000));
    for (let limit = 1; limit <= 10_000; limit++) read(rule(limit));
    expect(read(rule(1_000_000))).not.toBe(rules);
    expect(read(rule(1_000_000))).toEqual(rules);
  });

  it.each([
    [7, '7'],
    [Number.NaN, 'NaN'],
    [true, 'true'],
    [false, 'false'],
    [1n, '[object BigInt]'],
    [Symbol('pro'), 'Symbol(pro)'],
    [() => 'pro', 'function (anonymous)'],
    ['', ''],
    ['  ', '  '],
  ])('is neither: %p', (answer, given) => {
    expect(faultsOf(() => read(answer))).toEqual([
      {
        code: 'BOOK_VALUE',
        place: 'the answer of tierOf',
        given,
        problem:
          'a tier is its name, rules such as token-bucket,5,10, a small book, or undefined for none',
      },
    ]);
  });

  it.each([
    ['a map', new Map([['default', rule(1)]]), 'BOOK_VALUE'],
    ['a date', new Date(0), 'BOOK_VALUE'],
    ['an empty list', [], 'RULE_SYNTAX'],
    ['a list of names', ['pro'], 'RULE_SYNTAX'],
    ['a list of holes', [null, undefined], 'RULE_SYNTAX'],
    ['faulty text', 'fixed-window,0,10', 'RULE_LIMIT'],
    ['a faulty object', { limit: 5, window: 'soon' }, 'RULE_WINDOW'],
    ['an unknown field', { limits: 5 }, 'BOOK_KEY'],
    ['the name of a policy in a small book', { default: 'search' }, 'RULE_SYNTAX'],
    ['apis that are none', { api: rule(1) }, 'BOOK_VALUE'],
  ])('is faulty: %s', (_what, answer, code) => {
    const faults = faultsOf(() => read(answer));
    expect(faults[0]).toMatchObject({
      code,
      place: expect.stringMatching(/^the answer of tierOf/),
    });
  });

  it('tells every fault, and the api of each', () => {
    const api = { '/a': 'fixed-window,0,10', '/b': 'fixd-window,1,10' };
    expect(faultsOf(() => read({ default: 'fixed-window,1', api }))).toMatchObject([
      { code: 'RULE_SYNTAX', place: 'the answer of tierOf' },
      { code: 'RULE_LIMIT', place: 'the answer of tierOf, api "/a"' },
      { code: 'RULE_ALGORITHM', place: 'the answer of tierOf, api "/b"', meant: 'fixed-window' },
    ]);
  });

  it('has an api once', () => {
    expect(faultsOf(() => read({ api: { 'GET /a': rule(1), 'head /a': rule(2) } }))).toMatchObject([
      { code: 'BOOK_KEY', place: 'the answer of tierOf, api "head /a"', given: rule(2) },
    ]);
  });

  it('has a name once in a policy, and for one rule in a small book', () => {
    const named = (limit: number) => `fixed-window,${limit},10,name=day`;
    expect(faultsOf(() => read(`${named(1)} & ${named(1)}`))).toMatchObject([
      { code: 'NAME_CONFLICT', problem: 'the name "day" stands twice in one policy' },
    ]);
    expect(faultsOf(() => read({ default: named(1), api: { '/a': named(2) } }))).toMatchObject([
      { code: 'NAME_CONFLICT', place: 'the answer of tierOf, api "/a"' },
    ]);
    expect(faultsOf(() => read({ default: named(1), api: { '/a': named(1) } }))).toEqual([]);
    expect(textOf(named(2))).toContain('name=day');
  });
});

describe('rules of a tier in a book', () => {
  const book = RuleBook.of({
    default: rule(1),
    api: { '/login': rule(2), '/last': 'fixed-window,3,10,final=true' },
    user: { vip: rule(4) },
    tier: { pro: rule(5), free: { api: { '/login': rule(6) } } },
  });
  const limitOf = (userId: string, api: string, answer: unknown) =>
    book.lookUp(userId, api, read(answer))?.policy.rules[0]?.limit;

  it('stand where the rules of a named tier stand', () => {
    for (const answer of [rule(5), 'pro']) {
      expect(limitOf('u', '/', answer)).toBe(5);
      expect(limitOf('u', '/login', answer)).toBe(5);
      expect(limitOf('vip', '/login', answer)).toBe(4);
      expect(limitOf('u', '/last', answer)).toBe(3);
    }
    expect(limitOf('vip', '/', 'fixed-window,7,10,final=true')).toBe(7);
  });

  it('leave to the book the apis they do not name', () => {
    for (const answer of [{ api: { '/login': rule(6) } }, 'free']) {
      expect(limitOf('u', '/login', answer)).toBe(6);
      expect(limitOf('u', '/', answer)).toBe(1);
    }
  });

  it('are not for a tier that the book does not know', () => {
    expect([...book.tierNames]).toEqual(['pro', 'free']);
    expect(book.hasTier('pro')).toBe(true);
    for (const name of ['gold', 'constructor', '__proto__']) {
      expect(book.hasTier(name)).toBe(false);
      expect(limitOf('u', '/login', name)).toBe(2);
    }
    expect(limitOf('u', '/login', undefined)).toBe(2);
  });
});
