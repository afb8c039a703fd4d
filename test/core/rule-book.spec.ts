import fc from 'fast-check';
import { planCounters } from '../../src/core/counter-plan.js';
import { faultText, RateLimitConfigError } from '../../src/core/fault.js';
import type { PolicySource } from '../../src/core/policy.js';
import { RuleBook } from '../../src/core/rule-book.js';
import { placeOf } from '../../src/core/rule-book-entry.js';
import type { RuleBookSource, SmallBook } from '../../src/core/rule-book-object.js';
import { holds } from '../laws/support.js';
import { faultsOf } from './faults.js';

/** A rule that can be told from others by its limit. */
const rule = (limit: number) => `fixed-window,${limit},10`;

/** Books as they come from a file or from JavaScript, unchecked by the compiler. */
const read = (...sources: readonly unknown[]) => RuleBook.of(...(sources as RuleBookSource[]));

const placesOf = (book: RuleBook) => book.entries.map(({ place }) => place);
const limitsOf = (book: RuleBook, userId?: string, api = '/', tier?: string) =>
  book.rulesFor(userId, api, tier).map(({ limit }) => limit);

/** What a book says, in any order of its entries. */
function contentOf({ entries, mode }: RuleBook) {
  const lines = entries.map(({ key, place, label, policy }) => {
    return JSON.stringify([key.section, key.id, key.api, place, label, policy.toString()]);
  });
  return { mode, lines: lines.sort() };
}

describe('a rule book', () => {
  const object: RuleBookSource = {
    mode: 'enforce',
    default: rule(1),
    api: { '/login': rule(2), 'POST /login': rule(3), 'Query.orders': 'search' },
    user: {
      'vip-1': rule(4),
      'vip-2': { default: rule(5), api: { '/login': rule(6), 'GET /a b': 'search' } },
      'a.b@example.org': rule(7),
    },
    tier: { pro: rule(8), free: { api: { '/login': rule(9) } } },
    policy: { search: `${rule(10)} & ${rule(11)}` },
    always: { flood: rule(12), day: rule(13) },
  };
  const text = `
    # Who may do what how often.
    mode = enforce
    default = fixed-window,1,10
    api./login=fixed-window,2,10
    api.POST /login   =   fixed-window,3,10   # a comment
    api.Query.orders = search

    user.vip-1 = fixed-window,4,10
    user.vip-2.default = fixed-window,5,10
    user.vip-2.api./login = fixed-window,6,10
    user.vip-2.api.GET /a b = search
    user.a.b@example.org = fixed-window,7,10
    tier.pro.default = fixed-window,8,10
    tier.free.api./login = fixed-window,9,10
    policy.search = fixed-window,10,10 & fixed-window,11,10
    always.flood = fixed-window,12,10
    always.day = fixed-window,13,10
  `;

  it('is the same as an object and as text', () => {
    expect(contentOf(RuleBook.parse(text))).toEqual(contentOf(RuleBook.of(object)));
    expect(RuleBook.of(object).entries).toHaveLength(14);
  });

  it('writes down where each entry stands', () => {
    const told = RuleBook.of(object).entries.filter(({ key }) => !key.id.includes('@'));
    expect(new Map(told.map(({ place, label }) => [place, label]))).toEqual(
      new Map([
        ['default', 'default'],
        ['api:/login', 'api:/login'],
        ['api:POST /login', 'api:POST /login'],
        ['policy:search', 'search'],
        ['user:vip-1', 'user:vip-1'],
        ['user:vip-2', 'user:vip-2'],
        ['user:vip-2.api./login', 'user:vip-2.api./login'],
        ['tier:pro', 'tier:pro'],
        ['tier:free.api./login', 'tier:free.api./login'],
        ['always:flood', 'flood'],
        ['always:day', 'day'],
      ]),
    );
  });

  it.each<[string, RuleBookSource | string]>([
    ['an object', {}],
    ['text', ''],
    ['text of nothing but white space and comments', '\n \t\r\n # default = fixed-window,1,10\n'],
    ['an object whose parts are left out', { default: undefined, api: undefined, user: {} }],
    ['an object whose entries are left out', { api: { '/a': undefined } as never }],
    ['a small book without entries', { user: { vip: {} }, tier: { pro: { api: undefined } } }],
  ])('may be empty: %s', (_what, source) => {
    const book = RuleBook.of(source);
    expect(book.entries).toEqual([]);
    expect(book.rulesFor('alice', '/login', 'pro')).toEqual([]);
    expect(book.ruleFor('alice', '/login')).toBeUndefined();
    expect(book.personal).toBe(false);
  });

  it('takes whatever stands for a policy', () => {
    const sources: PolicySource[] = [{ limit: 5, window: 10 }, [rule(5), { limit: 6, window: 10 }]];
    const [plain, list] = sources as [PolicySource, PolicySource];
    const book = RuleBook.of({ default: plain, api: { '/a': list }, user: { u: list, v: plain } });
    expect(limitsOf(book)).toEqual([5]);
    expect(limitsOf(book, undefined, '/a')).toEqual([5, 6]);
    expect(limitsOf(book, 'u')).toEqual([5, 6]);
    expect(limitsOf(book, 'v')).toEqual([5]);
  });

  it('knows whether it tells users apart', () => {
    expect(RuleBook.of({ default: rule(1), api: { '/a': rule(2) } }).personal).toBe(false);
    expect(RuleBook.of({ user: { u: rule(1) } }).personal).toBe(true);
    expect(RuleBook.of({ tier: { t: { api: { '/a': rule(1) } } } }).personal).toBe(true);
  });

  it.each(['enforce', 'shadow', 'off'])('says its mode: %s', (mode) => {
    expect(read({ mode }).mode).toBe(mode);
    expect(RuleBook.parse(`mode = ${mode}  # for now`).mode).toBe(mode);
  });

  it('says no mode when it has none', () => {
    expect(read({}, '').mode).toBeUndefined();
  });
});

describe('which rule wins', () => {
  const small = (first: number): SmallBook => ({
    default: rule(first),
    api: { '/login': rule(first + 1), 'POST /login': rule(first + 2) },
  });
  const book = RuleBook.of({
    ...small(1),
    tier: { pro: small(11), some: { api: { '/login': rule(15) } } },
    user: { vip: small(21), some: { api: { '/login': rule(25) } } },
  });
  const noDefault = RuleBook.of({ api: { '/login': rule(2) } });

  it.each<
    [book: RuleBook, user: string | undefined, api: string, tier: string | undefined, number]
  >([
    [book, 'vip', 'POST /login', 'pro', 23],
    [book, 'vip', 'PUT /login', 'pro', 22],
    [book, 'vip', '/login', 'pro', 22],
    [book, 'vip', 'POST /other', 'pro', 21],
    [book, 'vip', 'Query.orders', undefined, 21],
    [book, 'some', '/login', 'pro', 25],
    [book, 'some', 'POST /login', 'pro', 25],
    [book, 'some', '/other', 'pro', 11],
    [book, 'some', '/other', 'some', 1],
    [book, 'bob', 'POST /login', 'pro', 13],
    [book, 'bob', 'PUT /login', 'pro', 12],
    [book, 'bob', '/other', 'pro', 11],
    [book, 'bob', 'POST /login', 'some', 15],
    [book, 'bob', '/other', 'some', 1],
    [book, 'bob', 'POST /login', 'unknown', 3],
    [book, 'bob', 'POST /login', undefined, 3],
    [book, undefined, 'POST /login', undefined, 3],
    [book, undefined, 'POST /login', 'pro', 13],
    [book, undefined, 'PUT /login', undefined, 2],
    [book, undefined, '/login', undefined, 2],
    [book, undefined, '/login/', undefined, 1],
    [book, undefined, '/LOGIN', undefined, 1],
    [book, undefined, 'Query.orders', undefined, 1],
    [book, undefined, '', undefined, 1],
    [book, 'pro', '/other', undefined, 1],
    [book, 'VIP', '/other', undefined, 1],
    [noDefault, 'bob', 'GET /login', 'pro', 2],
  ])('case %#: user %j at %j', (_book, user, api, tier, limit) => {
    expect(_book.ruleFor(user, api, tier)?.limit).toBe(limit);
    expect(limitsOf(_book, user, api, tier)).toEqual([limit]);
  });

  it('is none where nothing matches', () => {
    expect(noDefault.ruleFor('bob', '/other', 'pro')).toBeUndefined();
    expect(noDefault.rulesFor('bob', '/other', 'pro')).toEqual([]);
  });

  it.each([
    ['HEAD /a', 'GET /a'],
    ['GET /a', 'HEAD /a'],
    ['get /a', 'GET /a'],
    ['GET  \t/a', 'GET /a'],
    ['head /a', 'Get /a'],
  ])('finds the entry %j for %j', (entry, api) => {
    const book = RuleBook.of({ default: rule(1), api: { [entry]: rule(2) } });
    expect(limitsOf(book, undefined, api)).toEqual([2]);
    expect(limitsOf(book, undefined, '/a')).toEqual([1]);
    expect(limitsOf(book, undefined, 'POST /a')).toEqual([1]);
  });

  it.each([
    ['POST', 'POST'],
    ['POST login', 'POST login'],
    ['orders created', 'orders created'],
    ['2FA /a', '2FA /a'],
  ])('takes a name that is no method and path as it is: %j', (entry, api) => {
    const book = RuleBook.of({ api: { [entry]: rule(2) } });
    expect(limitsOf(book, undefined, api)).toEqual([2]);
    for (const other of ['/a', api.toLowerCase(), api.replace(' ', '  '), api.slice(-5)]) {
      expect([other, limitsOf(book, undefined, other)]).toEqual([other, other === api ? [2] : []]);
    }
  });

  it('is the first final one in the order user, tier, api, default, whatever else there is', () => {
    const levels = ['user', 'tier', 'api', 'default'] as const;
    for (let finals = 0; finals < 16; finals++) {
      const isFinal = (i: number) => (finals & (1 << i)) !== 0;
      const at = (i: number) => `${rule(i + 1)}${isFinal(i) ? ',final=true' : ''}`;
      const book = RuleBook.of({
        user: { u: at(0) },
        tier: { t: { api: { 'GET /a': at(1) } } },
        api: { '/a': at(2) },
        default: at(3),
      });
      const first = levels.findIndex((_level, i) => isFinal(i));
      expect({ finals, limits: limitsOf(book, 'u', 'GET /a', 't') }).toEqual({
        finals,
        limits: [Math.max(0, first) + 1],
      });
    }
  });

  it('is final as a whole when one of its rules is', () => {
    const book = RuleBook.of({
      default: `${rule(1)} & ${rule(2)},final=true`,
      user: { u: rule(3) },
    });
    expect(limitsOf(book, 'u')).toEqual([1, 2]);
  });

  it('is joined by what always joins, after it, and also where nothing wins', () => {
    const always = { flood: `${rule(5)} & ${rule(6)}`, day: rule(7) };
    const book = RuleBook.of({ api: { '/a': `${rule(1)} & ${rule(2)}` }, always });
    expect(limitsOf(book, 'u', '/a')).toEqual([1, 2, 5, 6, 7]);
    expect(limitsOf(book, 'u', '/b')).toEqual([5, 6, 7]);
    expect(book.ruleFor('u', '/a')?.limit).toBe(1);
    expect(book.ruleFor('u', '/b')?.limit).toBe(5);
  });

  it.each<[string, RuleBookSource | string]>([
    ['text', { always: rule(5) }],
    ['an object', { always: { algorithm: 'fixed-window', limit: 5, window: 10 } }],
    ['a list', { always: [rule(5)] }],
    ['a line', 'always = fixed-window,5,10'],
  ])('is joined by a lone policy as %s', (_what, source) => {
    const book = RuleBook.of(source);
    expect(placesOf(book)).toEqual(['always']);
    expect(limitsOf(book)).toEqual([5]);
  });
});

/** Ids that a careless reader would take for something else. */
const IDS = [
  ...['', ' ', 'a b', ' a', 'a\t', '.', '..', 'a.b', 'a.', '.a', 'default', 'api', 'user', 'mode'],
  ...['.api.', 'a.api.b', 'a.api.', '.api.b', 'a.api', 'api.b', 'a.api.b.api.c', 'a..api..b'],
  ...['.default', 'a.default', 'a.default.default', 'a.default.b', 'limit', 'window', 'rules'],
  ...['\\', 'a\\', '\\.api.', 'a\\.api.b', 'a\\.default', 'corp\\alice', '\\\\', 'a\\\\.api.b'],
  ...['=', 'a=b', '==', '\\=', '#', '#a', 'a #b', '\\#', '&', ',', 'a,b', 'a:b', 'user:a', '@a'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'NaN', 'undefined'],
  ...['ünïcode', '用户', '😀', '\ud83d', '\u0000', '\u2028', '\ufeff', 'A', 'é', 'e\u0301'],
  'x'.repeat(10_000),
];

/** An object with exactly these keys of its own, `__proto__` among them. */
const objectOf = <T>(entries: readonly (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries);

describe('an id of any kind', () => {
  const rules = IDS.map((id, i) => [id, rule(i + 1)] as const);

  it.each(['user', 'tier'] as const)(
    'is found as a %s, and nobody else gets its rule',
    (section) => {
      const book = RuleBook.of({ [section]: objectOf(rules) });
      const asked = (id: string) =>
        section === 'user' ? book.ruleFor(id, '/a') : book.ruleFor('u', '/a', id);
      expect(IDS.map((id) => asked(id)?.limit)).toEqual(IDS.map((_id, i) => i + 1));
      for (const other of ['a.api.c', 'valueOf', 'x', 'b', 'a\\\\', 'E\u0301']) {
        expect(asked(other)).toBeUndefined();
      }
    },
  );

  it('is found as a user with a small book', () => {
    const book = RuleBook.of({
      user: objectOf(rules.map(([id, one]) => [id, { api: { '/a': one } }])),
    });
    expect(IDS.map((id) => book.ruleFor(id, '/a')?.limit)).toEqual(IDS.map((_id, i) => i + 1));
    expect(IDS.map((id) => book.ruleFor(id, '/b'))).toEqual(IDS.map(() => undefined));
  });

  it('is found as an api, also of a small book', () => {
    const book = RuleBook.of({ api: objectOf(rules), user: { u: { api: objectOf(rules) } } });
    const limits = IDS.map((_id, i) => i + 1);
    expect(IDS.map((id) => book.ruleFor(undefined, id)?.limit)).toEqual(limits);
    expect(IDS.map((id) => book.ruleFor('u', id)?.limit)).toEqual(limits);
  });

  it('is one from a JSON file as well', () => {
    const book = read(JSON.parse(`{"user":{"__proto__":"${rule(3)}","constructor":"${rule(4)}"}}`));
    expect(limitsOf(book, '__proto__')).toEqual([3]);
    expect(limitsOf(book, 'constructor')).toEqual([4]);
    expect(limitsOf(book, 'toString')).toEqual([]);
  });
});

describe('a key in text', () => {
  it.each([
    ['user.vip-1', ['user', 'vip-1']],
    ['user.vip-1.default', ['user', 'vip-1']],
    ['user.a.b', ['user', 'a.b']],
    ['user.a.default.b', ['user', 'a.default.b']],
    ['user.a.default.default', ['user', 'a.default']],
    ['user.a\\.default', ['user', 'a.default']],
    ['user.a\\\\.default', ['user', 'a\\']],
    ['user.a\\\\\\.default', ['user', 'a\\.default']],
    ['user.a.b\\.default', ['user', 'a.b.default']],
    ['user.default', ['user', 'default']],
    ['user..default', ['user', '']],
    ['user.', ['user', '']],
    ['user.a.api./x', ['user', 'a', '/x']],
    ['user..api./x', ['user', '', '/x']],
    ['user.a.api.', ['user', 'a', '']],
    ['user.a.api', ['user', 'a.api']],
    ['user.a.api.b.api.c', ['user', 'a', 'b.api.c']],
    ['user.a\\.api.b.api.c', ['user', 'a.api.b', 'c']],
    ['user.a\\.api.b\\.api.c', ['user', 'a.api.b.api.c']],
    ['user.a\\.api.api.c', ['user', 'a.api', 'c']],
    ['user.a\\\\.api.b', ['user', 'a\\', 'b']],
    ['user.a.api.Query.orders', ['user', 'a', 'Query.orders']],
    ['user.a.api./x.default', ['user', 'a', '/x.default']],
    ['user.a.api.POST /a b', ['user', 'a', 'POST /a b']],
    ['user.a\\=b', ['user', 'a=b']],
    ['user.a\\#b', ['user', 'a#b']],
    ['user.a#b', ['user', 'a#b']],
    ['user.a #b', ['user', 'a #b']],
    ['user.corp\\alice', ['user', 'corp\\alice']],
    ['user.corp\\\\alice', ['user', 'corp\\alice']],
    ['user.a b:c', ['user', 'a b:c']],
    ['user.__proto__', ['user', '__proto__']],
    ['tier.pro.api./a', ['tier', 'pro', '/a']],
    ['api./orders/:id', ['api', '/orders/:id']],
    ['api.GET /a/:b?x\\=1', ['api', 'GET /a/:b?x=1']],
    ['api.Query.orders', ['api', 'Query.orders']],
    ['api./a.api./b', ['api', '/a.api./b']],
    ['api.a.default', ['api', 'a.default']],
    ['policy.search.v2', ['policy', 'search.v2']],
    ['always.flood', ['always', 'flood']],
    ['always', ['always', '']],
    ['default', ['default', '']],
  ])('%j', (key, parts) => {
    for (const line of [`${key}=${rule(7)}`, `\t ${key}  =  ${rule(7)} `]) {
      const [entry] = RuleBook.parse(line).entries;
      const { section, id, api } = entry?.key ?? {};
      expect([section, id, ...(api === undefined ? [] : [api])]).toEqual(parts);
      expect(String(entry?.policy)).toBe('fixed-window,7,10s');
    }
  });

  /** As a careful operator would write it: every dot of an id escaped, and `=`, `\`. */
  const escapeId = (id: string) => id.replace(/[\\=.]/g, '\\$&');

  interface Written {
    readonly section: 'api' | 'user' | 'tier';
    readonly id: string;
    readonly api: string | undefined;
    readonly limit: number;
  }

  const textOf = (entries: readonly Written[]) =>
    entries
      .map(({ section, id, api, limit }) => {
        const small = api === undefined ? '' : `.api.${api.replace(/[\\=]/g, '\\$&')}`;
        return `${section}.${escapeId(id)}${small} = ${rule(limit)}`;
      })
      .join('\n');

  function sourceOf(entries: readonly Written[]) {
    const part = (section: Written['section']) => entries.filter((one) => one.section === section);
    const smallBook = (own: readonly Written[]) => {
      const byDefault = own.find(({ api }) => api === undefined);
      const apis = own.flatMap(({ api, limit }) =>
        api === undefined ? [] : [[api, rule(limit)] as const],
      );
      return { default: byDefault && rule(byDefault.limit), api: objectOf(apis) };
    };
    const people = (section: Written['section']) =>
      objectOf(
        part(section).map(({ id }) => [
          id,
          smallBook(part(section).filter((one) => one.id === id)),
        ]),
      );
    const api = objectOf(part('api').map(({ id, limit }) => [id, rule(limit)]));
    return { api, user: people('user'), tier: people('tier') };
  }

  const piece = fc.constantFrom(...IDS, 'GET /a', '/a', '/b/:c', 'Query.a', 'é', 'tier.pro');
  const word = fc.oneof(
    piece,
    fc.string({ maxLength: 6 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const id = fc
    .oneof(
      word,
      fc.array(word, { maxLength: 3 }).map((words) => words.join('')),
    )
    .filter((one) => !/[\r\n]/.test(one) && one === one.trimEnd());
  // An api that begins like the end of a key is a case of its own, below.
  const api = id.filter((one) => !one.startsWith('api.'));
  const limit = fc.integer({ min: 1, max: 9 });
  const written: fc.Arbitrary<Written> = fc.oneof(
    fc.record({ section: fc.constant('api'), id, api: fc.constant(undefined), limit }),
    fc.record({
      section: fc.constantFrom('user', 'tier'),
      id,
      api: fc.option(api, { nil: undefined }),
      limit,
    }),
  );

  it('is the same entry as in the object form', () => {
    holds(
      1500,
      fc.property(fc.uniqueArray(written, { maxLength: 9, selector: placeOf }), (entries) => {
        const book = RuleBook.parse(textOf(entries));
        expect(book.entries).toHaveLength(entries.length);
        expect(contentOf(book)).toEqual(contentOf(read(sourceOf(entries))));
      }),
    );
  });
});

describe('a place', () => {
  it.each([
    [['x.api.y'], ['x', 'y']],
    [['x.api.y'], ['x\\', 'y']],
    [
      ['x.api', 'y'],
      ['x', 'api.y'],
    ],
    [
      ['x.api.y', 'z'],
      ['x', 'y.api.z'],
    ],
    [['x\\.api.y'], ['x.api.y']],
    [['x', ''], ['x.api.']],
  ])('tells the entry %j of a user, id and api, from %j', (...keys) => {
    const places = keys.map(([id = '', api]) => placeOf({ section: 'user', id, api }));
    expect(new Set(places).size).toBe(2);
    const text = keys.map(([id = '', api], i) => {
      const small = api === undefined ? '' : `.api.${api}`;
      return `user.${id.replace(/[\\.]/g, '\\$&')}${small} = ${rule(i + 1)}`;
    });
    expect(RuleBook.parse(text.join('\n')).entries).toHaveLength(2);
  });

  it('is never that of another entry', () => {
    const pieces = ['x', '.', '.api', 'api.', '.api.', 'default', '.default', '\\', ':'];
    const text = fc
      .array(fc.constantFrom(...pieces), { maxLength: 3 })
      .map((words) => words.join(''));
    const key = fc.oneof(
      fc.record({ section: fc.constant('default' as const), id: fc.constant('') }),
      fc.record({ section: fc.constantFrom('api', 'policy', 'always'), id: text }),
      fc.record({
        section: fc.constantFrom('user', 'tier'),
        id: text,
        api: fc.option(text, { nil: undefined }),
      }),
    );
    holds(
      300,
      fc.property(fc.array(key, { minLength: 60, maxLength: 60 }), (all) => {
        const byPlace = new Map<string, string>();
        for (const one of all as Parameters<typeof placeOf>[0][]) {
          const written = JSON.stringify([one.section, one.id, one.api ?? null]);
          const place = placeOf(one);
          expect([place, byPlace.get(place) ?? written]).toEqual([place, written]);
          byPlace.set(place, written);
        }
      }),
    );
  });

  it('is one for the spellings of one api', () => {
    const places = ['GET /a', 'get /a', 'HEAD /a', 'GET \t /a'].map((id) =>
      placeOf({ section: 'api', id }),
    );
    expect(new Set(places)).toEqual(new Set(['api:GET /a']));
  });
});

describe('a line', () => {
  it.each(['\n', '\r\n', '\r', '\n\n\r\n'])('ends with %j', (end) => {
    const book = RuleBook.parse(`default = ${rule(1)}${end}api./a = ${rule(2)}${end}`);
    expect(placesOf(book)).toEqual(['default', 'api:/a']);
  });

  it.each([
    'default = fixed-window,1,10 # a comment',
    'default = fixed-window,1,10\t# = # a comment',
    'default = fixed-window,1,10 #',
    '# default = fixed-window,2,10\ndefault = fixed-window,1,10',
    '   #default = fixed-window,2,10\n \t\n   default = fixed-window,1,10',
    '\ufeffdefault = fixed-window,1,10',
    'default=fixed-window,1,10',
  ])('may be a comment, blank or end in a comment: %j', (text) => {
    expect(limitsOf(RuleBook.parse(text))).toEqual([1]);
  });

  it.each([
    'default = fixed-window,1,10 # a comment with \u2028 in it',
    'default = fixed-window,1,10 # a comment with \u2029 in it',
  ])('may end in a comment of any characters: %j', (text) => {
    expect(limitsOf(RuleBook.parse(text))).toEqual([1]);
  });

  it('keeps a # that no white space stands before', () => {
    const book = RuleBook.parse(`policy.c# = ${rule(5)}\ndefault = c# # a comment`);
    expect(limitsOf(book)).toEqual([5]);
    expect(faultsOf(() => RuleBook.parse('default = fixed-window,5,10#'))).toHaveLength(1);
  });

  it('splits at its first = alone', () => {
    const book = RuleBook.parse('api.GET /a:b c = fixed-window,1,10,name=x, by = ip ');
    expect(placesOf(book)).toEqual(['api:GET /a:b c']);
    expect(book.ruleFor(undefined, 'GET /a:b c')).toMatchObject({ name: 'x', by: ['ip'] });
  });

  it.each(
    [
      ['default', 'line 1', 'default', 'a line is key = rule'],
      ['\n\r\n  some words ', 'line 3', 'some words', 'a line is key = rule'],
      [
        'user.a\\=fixed-window,1,10',
        'line 1',
        'user.a\\=fixed-window,1,10',
        'a line is key = rule',
      ],
      ['# x\ndefalt = x', 'line 2', 'defalt', 'a key begins with default, api', 'default'],
      ['users.a = x', 'line 1', 'users.a', 'a key begins with default, api', 'user'],
      ['Api./a = x', 'line 1', 'Api./a', 'a key begins with', 'api'],
      ['mod = off', 'line 1', 'mod', 'a key begins with', 'mode'],
      ['mode.x = off', 'line 1', 'mode.x', 'a key begins with'],
      ['/login = x', 'line 1', '/login', 'a key begins with'],
      ['= x', 'line 1', '', 'a key begins with'],
      ['constructor = x', 'line 1', 'constructor', 'a key begins with'],
      ['default.x = x', 'line 1', 'default.x', 'default stands alone'],
      ['default. = x', 'line 1', 'default.', 'default stands alone'],
      ['user = x', 'line 1', 'user', 'an id is missing: user.some-id'],
      ['tier = x', 'line 1', 'tier', 'an id is missing: tier.some-id'],
      ['api = x', 'line 1', 'api', 'a name is missing: api.some-name'],
      ['policy = x', 'line 1', 'policy', 'a name is missing: policy.some-name'],
    ].map(([text = '', place, given, problem = '', meant]) => [text, place, given, problem, meant]),
  )('is refused at its number: %j', (text = '', place, given, problem = '', meant) => {
    const faults = faultsOf(() => RuleBook.parse(text));
    expect(faults).toMatchObject([{ code: 'BOOK_KEY', place, given }]);
    expect(faults[0]?.problem).toContain(problem);
    expect(faults[0]?.meant).toBe(meant);
  });
});

describe('a faulty book', () => {
  it.each<[source: unknown, place: string, given: string, meant?: string]>([
    [{ defalt: rule(1) }, 'rules', 'defalt', 'default'],
    [{ apis: {} }, 'rules', 'apis', 'api'],
    [{ polices: {} }, 'rules', 'polices', 'policy'],
    [{ limits: {} }, 'rules', 'limits'],
    [{ user: { u: { defualt: rule(1) } } }, 'user "u"', 'defualt', 'default'],
    [{ user: { u: { limits: 5, window: { a: 1 } } } }, 'user "u"', 'limits', 'limit'],
    [{ tier: { t: { user: rule(1) } } }, 'tier "t"', 'user'],
  ])('has a key that nobody knows: %j', (...[source, place, given, meant]) => {
    const [fault] = faultsOf(() => read(source));
    expect(fault).toMatchObject({ code: 'BOOK_KEY', place, given });
    expect(fault?.meant).toBe(typeof meant === 'string' ? meant : undefined);
  });

  it.each([
    [null, 'rules', 'null'],
    [[], 'rules', '[]'],
    [5, 'rules', '5'],
    [{ api: rule(1) }, 'rules.api', rule(1)],
    [{ user: [rule(1)] }, 'rules.user', `["${rule(1)}"]`],
    [{ policy: null }, 'rules.policy', 'null'],
    [{ user: { u: { api: rule(1) } } }, 'user "u", api', rule(1)],
    [{ mode: 'shadwo' }, 'mode', 'shadwo'],
    [{ mode: 5 }, 'mode', '5'],
    [{ mode: Object.create(null) }, 'mode', '{}'],
    ['mode =', 'mode', ''],
  ])('has a value of the wrong kind: %j', (source, place, given) => {
    expect(faultsOf(() => read(source))).toMatchObject([{ code: 'BOOK_VALUE', place, given }]);
  });

  it('has a hint for a mode that is nearly one', () => {
    expect(faultsOf(() => read({ mode: 'shadwo' }))[0]?.meant).toBe('shadow');
  });

  it.each([
    [{ default: null }, 'default'],
    [{ default: 5 }, 'default'],
    [{ default: {} }, 'default'],
    [{ default: [] }, 'default'],
    [{ default: '' }, 'default'],
    [{ api: { '/a': null } }, 'api "/a"'],
    [{ user: { u: null } }, 'user "u"'],
    [{ user: { u: { api: { '/a': 0 } } } }, 'user "u", api "/a"'],
    [{ always: null }, 'always'],
    ['default =', 'default'],
    ['api./a = # nothing', 'api "/a"'],
  ])('has no rule where one belongs: %j', (source, place) => {
    const faults = faultsOf(() => read(source));
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults) expect(fault).toMatchObject({ code: 'RULE_SYNTAX', place });
  });

  it.each([
    ['a map for a book', new Map([['default', rule(1)]])],
    ['a map for a part', { api: new Map([['/a', rule(1)]]) }],
  ])('is never taken for one without limits: %s', (_what, source) => {
    expect(faultsOf(() => read(source))).not.toEqual([]);
  });

  it('is told with every fault and place at once, as an object and as text', () => {
    const object = {
      defalt: rule(1),
      default: 'fixd-window,1,10',
      api: { '/login': 'fixed-window,0,10' },
      user: { 'vip-1': { api: { '/login': 'fixed-window,1,-1' } } },
      policy: { search: 'fixed-window,1,10,brust=2' },
      always: { flood: 'serach' },
    };
    const text = `
      defalt = ${rule(1)}
      default = fixd-window,1,10
      api./login = fixed-window,0,10
      user.vip-1.api./login = fixed-window,1,-1
      policy.search = fixed-window,1,10,brust=2
      always.flood = serach`;
    const told = (source: unknown) =>
      faultsOf(() => read(source)).map(({ code, place, meant }) => [code, place, meant]);
    const rest = [
      ['RULE_OPTION', 'policy "search"', 'burst'],
      ['RULE_ALGORITHM', 'default', 'fixed-window'],
      ['RULE_LIMIT', 'api "/login"', undefined],
      ['RULE_WINDOW', 'user "vip-1", api "/login"', undefined],
      ['POLICY_UNKNOWN', 'always "flood"', 'search'],
    ];
    expect(told(object)).toEqual([['BOOK_KEY', 'rules', 'default'], ...rest]);
    expect(told(text)).toEqual([['BOOK_KEY', 'line 2', 'default'], ...rest]);
  });

  it('tells the fault of each entry of its own, also for the empty id', () => {
    const user = { '': { default: 'token-bucket,0,10', api: { '/a': 'token-bucket,0,10' } } };
    const faults = faultsOf(() => RuleBook.of({ user }));
    expect(faults.map(({ code }) => code)).toEqual(['RULE_LIMIT', 'RULE_LIMIT']);
  });

  it('is told with the place in words', () => {
    expect(() => RuleBook.parse('api./login = token-bucket,0,10')).toThrow(
      'Invalid "token-bucket,0,10" for api "/login": limit must be a positive whole number, got 0',
    );
  });

  it.each([
    'default = fixed-window,1,10\ndefault = fixed-window,2,10',
    'user.a = fixed-window,1,10\nuser.a.default = fixed-window,1,10',
    'api.GET /a = fixed-window,1,10\napi.HEAD /a = fixed-window,2,10',
    'user.a.api.get /a = fixed-window,1,10\nuser.a.api.GET  /a = fixed-window,2,10',
    'always = fixed-window,1,10\nalways = fixed-window,2,10',
    'policy.a = fixed-window,1,10\npolicy.a = fixed-window,1,10',
  ])('has one entry twice: %j', (text) => {
    expect(faultsOf(() => RuleBook.parse(text))).toMatchObject([
      { code: 'BOOK_KEY', problem: 'it is given twice in one book' },
    ]);
  });

  it('has one entry twice in its object form', () => {
    const api = { 'GET /a': rule(1), 'get /a': rule(2) };
    expect(faultsOf(() => RuleBook.of({ api }))).toMatchObject([
      { code: 'BOOK_KEY', place: 'api "get /a"', given: rule(2) },
    ]);
  });

  it('has its mode twice', () => {
    expect(faultsOf(() => RuleBook.parse('mode = off\nmode = enforce'))).toMatchObject([
      { code: 'BOOK_KEY' },
    ]);
  });
});

describe('a named policy', () => {
  it('stands for its rules wherever it is named, and keeps its own place and name', () => {
    const book = RuleBook.of({
      policy: { search: rule(5), 'other one': rule(6) },
      default: ' search ',
      api: { '/a': 'other one' },
      user: { u: 'search' },
      always: { flood: 'search' },
    });
    expect(limitsOf(book)).toEqual([5, 5]);
    expect(limitsOf(book, undefined, '/a')).toEqual([6, 5]);
    expect(book.lookUp(undefined, '/')).toMatchObject({ place: 'policy:search', label: 'search' });
    expect(book.lookUp('u', '/')).toMatchObject({ place: 'policy:search', label: 'search' });
    expect(book.policy('search')).toMatchObject({ place: 'policy:search', label: 'search' });
    expect([...book.policyNames]).toEqual(['search', 'other one']);
    expect(book.policy('constructor')).toBeUndefined();
  });

  it('shares its counters among those who name it', () => {
    const book = RuleBook.of({ policy: { s: rule(5) }, default: 's', user: { u: 's' } });
    const idsOf = (userId?: string) => {
      const placed = book.lookUp(userId, '/');
      return placed && planCounters(placed).map(({ id }) => id);
    };
    expect(idsOf('u')).toEqual(idsOf());
  });

  it('limits nobody by itself', () => {
    const book = RuleBook.of({ policy: { search: rule(5) } });
    expect(limitsOf(book, 'search', 'search', 'search')).toEqual([]);
  });

  it.each([
    ['serach', 'search', 'the policies are search, uploads'],
    ['Search', 'search', 'the policies are search, uploads'],
    ['upload', 'uploads', 'the policies are search, uploads'],
    ['orders', undefined, 'the policies are search, uploads'],
    ['token-bucket', undefined, 'it is no rule such as token-bucket,5,10'],
  ])('is missing: %s', (name, meant, problem) => {
    const policy = { search: rule(1), uploads: rule(2) };
    expect(faultsOf(() => RuleBook.of({ policy, default: name }))).toEqual([
      {
        code: 'POLICY_UNKNOWN',
        place: 'default',
        given: name,
        problem: expect.stringContaining(problem),
        meant,
      },
    ]);
  });

  it('is missing where none is defined', () => {
    const problem = expect.stringContaining('no policy is defined');
    expect(faultsOf(() => RuleBook.of({ default: 'search' }))).toMatchObject([{ problem }]);
  });

  it('is told once when it is faulty, and not at each use', () => {
    const policy = { search: 'fixed-window,0,10' };
    const faults = faultsOf(() => RuleBook.of({ policy, default: 'search', always: 'search' }));
    expect(faults).toMatchObject([{ code: 'RULE_LIMIT', place: 'policy "search"' }]);
  });

  it.each(['', ' ', 'a,b', 'a&b', 'a=b'])('cannot be called %j', (name) => {
    expect(faultsOf(() => RuleBook.of({ policy: { [name]: rule(1) } }))).toMatchObject([
      { code: 'BOOK_KEY', place: 'policy', given: name },
    ]);
  });
});

describe('rules of one name', () => {
  it('are one rule, wherever they stand', () => {
    const named = 'fixed-window,5,10,name=day';
    const book = RuleBook.of({ default: named, api: { '/a': `fixed-window,5,10s,name=day` } });
    expect(book.entries).toHaveLength(2);
  });

  it.each([
    ['fixed-window,6,10,name=day'],
    ['fixed-window,5,11,name=day'],
    ['sliding-window,5,10,name=day'],
    ['fixed-window,5,10,name=day,by=ip'],
  ])('are refused when they differ: %s', (other) => {
    const faults = faultsOf(() =>
      RuleBook.of({ default: 'fixed-window,5,10,name=day', api: { '/a': other } }),
    );
    expect(faults).toMatchObject([{ code: 'NAME_CONFLICT' }]);
    expect(faults[0]?.problem).toContain('the name "day" is taken by fixed-window,5,10s,name=day');
  });

  it('are refused within one policy', () => {
    const twice = 'fixed-window,5,10,name=a & fixed-window,5,10,name=a';
    expect(faultsOf(() => RuleBook.of({ default: twice }))).toMatchObject([
      {
        code: 'NAME_CONFLICT',
        place: 'default',
        problem: 'the name "a" stands twice in one policy',
      },
    ]);
  });

  it('may be used by a named policy in several places', () => {
    const policy = { search: 'fixed-window,5,10,name=a' };
    expect(
      faultsOf(() => RuleBook.of({ policy, default: 'search', api: { '/a': 'search' } })),
    ).toEqual([]);
  });
});

describe('a later book', () => {
  const first: RuleBookSource = {
    mode: 'off',
    default: rule(1),
    api: { 'GET /a': rule(2), '/b': rule(3) },
    user: { u: { default: rule(4), api: { '/a': rule(5) } } },
    policy: { search: rule(6) },
    always: { flood: rule(7), day: rule(8) },
  };

  it('overrides the entries it has, and leaves the others', () => {
    const second = `
      default = ${rule(11)}
      api.get /a = ${rule(12)}
      user.u = ${rule(14)}
      always.day = ${rule(18)}
      api./c = ${rule(19)}`;
    const book = RuleBook.of(first, second);
    expect(limitsOf(book)).toEqual([11, 7, 18]);
    expect(limitsOf(book, undefined, 'HEAD /a')).toEqual([12, 7, 18]);
    expect(limitsOf(book, undefined, '/b')).toEqual([3, 7, 18]);
    expect(limitsOf(book, undefined, '/c')).toEqual([19, 7, 18]);
    expect(limitsOf(book, 'u')).toEqual([14, 7, 18]);
    expect(limitsOf(book, 'u', '/a')).toEqual([5, 7, 18]);
    expect(book.mode).toBe('off');
  });

  it('overrides the mode, and a policy that the earlier one names', () => {
    const book = RuleBook.of(
      { ...first, default: 'search' },
      { mode: 'enforce' },
      `policy.search = ${rule(16)}`,
    );
    expect(limitsOf(book)[0]).toBe(16);
    expect(book.mode).toBe('enforce');
  });

  it('is overridden by a still later one', () => {
    expect(limitsOf(RuleBook.of(...[1, 2, 3].map((limit) => ({ default: rule(limit) }))))).toEqual([
      3,
    ]);
  });

  it('changes nothing when it is empty', () => {
    expect(contentOf(RuleBook.of('', first, {}))).toEqual(contentOf(RuleBook.of(first)));
  });

  it('is told its faults together with those of the earlier one', () => {
    const faults = faultsOf(() =>
      RuleBook.of({ default: 'fixed-window,0,10' }, 'api./a = x\nusr.a = x'),
    );
    expect(faults.map(({ code }) => code)).toEqual(['BOOK_KEY', 'RULE_LIMIT', 'POLICY_UNKNOWN']);
  });
});

describe('any text at all', () => {
  const fragments = fc
    .array(
      fc.constantFrom(
        ...['default', 'api', 'user', 'tier', 'policy', 'always', 'mode', '.', '.api.', '.default'],
        ...[' = ', '=', '\\', '#', ' # ', '\n', '\r\n', '\r', '&', ' & ', ',', '+', '-', ':', ' '],
        ...['token-bucket', 'fixed-window', 'sliding-window', 'sliding-window-counter', '/login'],
        ...['5', '0', '10', '0.5', '1d', '365d', '250ms', '9007199254740993', '1e9', 'search'],
        ...['burst=', 'by=', 'name=', 'count=', 'mode=', 'onStoreError=', 'wait=', 'final=true'],
        ...['ip', 'user+api', 'shadow', 'off', 'POST /a', '__proto__', '\ud800', '😀', '\u0000'],
      ),
      { maxLength: 40, size: 'max' },
    )
    .map((parts) => parts.join(''));

  const line = fc
    .tuple(
      fc.constantFrom(
        'default',
        'api./a',
        'user.u',
        'user.u.api./a',
        'tier.t',
        'policy.p',
        'always',
      ),
      fc.constantFrom('token-bucket', 'fixed-window', 'sliding-window', 'fixed', 'p'),
      fc.constantFrom(',5,10', ',0,10', ',5', '', ',5,10,burst=7', ',5,10,name=a', ',5,10 & p'),
    )
    .map(([key, algorithm, rest]) => `${key} = ${algorithm}${rest}`);
  const lines = fc.array(line, { maxLength: 6 }).map((all) => all.join('\n'));

  it.each([
    ['characters', 5000, fc.string({ maxLength: 200 })],
    ['code points', 1000, fc.string({ unit: 'binary', maxLength: 60 })],
    ['fragments of the grammar', 5000, fragments],
    ['lines', 2000, lines],
  ])('is a book or a configuration error: %s', (_what, runs, texts) => {
    holds(
      runs,
      fc.property(texts, (text) => {
        try {
          expect(RuleBook.parse(text)).toBeInstanceOf(RuleBook);
        } catch (error) {
          if (!(error instanceof RateLimitConfigError)) throw error;
          expect(error.faults.length).toBeGreaterThan(0);
          for (const fault of error.faults) {
            expect([fault.code, fault.place, fault.problem].every((part) => part !== '')).toBe(
              true,
            );
            expect(error.message).toContain(faultText(fault));
          }
        }
      }),
    );
  });
});
