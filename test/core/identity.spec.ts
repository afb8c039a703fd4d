import fc from 'fast-check';
import { counterOf, type PlacedPolicy, planCounters } from '../../src/core/counter-plan.js';
import { type Asker, dimensionValue, encodeParts } from '../../src/core/identity.js';
import { Policy } from '../../src/core/policy.js';
import { RuleBook } from '../../src/core/rule-book.js';
import { holds } from '../laws/support.js';

const text = fc.oneof(
  fc.array(fc.constantFrom('0', '1', '2', ':', '|', '@', '=', ''), { maxLength: 6 }),
  fc.array(fc.string({ unit: 'binary', maxLength: 2 }), { maxLength: 3 }),
);
const word = text.map((parts) => parts.join(''));

describe('encoded parts', () => {
  it.each([
    [['a|b', 'c'], ['a', 'b|c'], 'with a separator in them'],
    [['ab', ''], ['a', 'b'], 'cut elsewhere'],
    [['a'], ['a', ''], 'with an empty one at the end'],
    [[], [''], 'none and an empty one'],
    [['1:a'], ['a'], 'that look encoded'],
    [['a1:b'], ['a', 'b'], 'that hold an encoded part'],
    [['\ud800', '\udc00'], ['\ud800\udc00'], 'that join to one character'],
    [['é'], ['e\u0301'], 'that look the same'],
  ])('never meet: %j and %j, %s', (one, other) => {
    expect(encodeParts(one)).not.toBe(encodeParts(other));
  });

  it('are the same exactly for the same parts', () => {
    holds(
      500,
      fc.property(
        fc.array(fc.array(word, { maxLength: 3 }), { minLength: 40, maxLength: 40 }),
        (lists) => {
          const different = new Set(lists.map((list) => JSON.stringify(list)));
          expect(new Set(lists.map(encodeParts)).size).toBe(different.size);
        },
      ),
    );
  });
});

const asker = (given: Partial<Asker>): Asker => ({
  userId: undefined,
  address: undefined,
  api: '/orders',
  ...given,
});

describe('what a dimension counts by', () => {
  const known = asker({
    userId: 'alice',
    address: '10.0.0.1',
    dimensions: { tenant: 'acme', ip: 'no', user: 'no', api: 'no', empty: '' },
  });
  const nobody = asker({ address: '10.0.0.1' });

  it.each([
    ['user', known, 'alice'],
    ['api', known, '/orders'],
    ['ip', known, '@10.0.0.1'],
    ['global', known, ''],
    ['tenant', known, 'acme'],
    ['empty', known, ''],
    ['region', known, '@10.0.0.1'],
    ['user', nobody, '@10.0.0.1'],
    ['tenant', nobody, '@10.0.0.1'],
    ['ip', nobody, '@10.0.0.1'],
    ['api', nobody, '/orders'],
    ['user', asker({}), undefined],
    ['ip', asker({ userId: 'alice' }), undefined],
    ['tenant', asker({ userId: 'alice', dimensions: { region: 'eu' } }), undefined],
    ['user', asker({ userId: 'alice' }), 'alice'],
    ['user', asker({ userId: '' }), ''],
    ['api', asker({}), '/orders'],
    ['global', asker({}), ''],
  ] as const)('case %#: %s', (dimension, who, value) => {
    expect(dimensionValue(dimension, who)).toBe(value);
  });

  it.each([
    ['alice', 'alice'],
    ['@alice', '=@alice'],
    ['=alice', '==alice'],
    ['=@alice', '==@alice'],
    ['a@b', 'a@b'],
    ['', ''],
    ['@', '=@'],
  ])('tells the id %j from an address: %j', (userId, value) => {
    expect(dimensionValue('user', asker({ userId }))).toBe(value);
    expect(dimensionValue('tenant', asker({ dimensions: { tenant: userId } }))).toBe(value);
  });

  it('is never the same for an id and an address, nor for two ids', () => {
    const id = fc.oneof(
      word,
      fc.tuple(fc.constantFrom('@', '=', '=@', '@='), word).map((p) => p.join('')),
    );
    holds(
      1000,
      fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 12 }), (ids) => {
        const users = ids.map((userId) => dimensionValue('user', asker({ userId, address: 'x' })));
        const addresses = ids.map((address) => dimensionValue('user', asker({ address })));
        expect(new Set([...users, ...addresses]).size).toBe(2 * ids.length);
      }),
    );
  });

  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])(
    'falls back to the address where nobody told it, also for %s',
    (dimension) => {
      const who = asker({ userId: 'alice', address: '10.0.0.1', dimensions: { tenant: 'acme' } });
      expect(dimensionValue(dimension, who)).toBe('@10.0.0.1');
    },
  );
});

const placed = (policy: string, place = 'default', more: Partial<PlacedPolicy> = {}) => ({
  policy: Policy.of(policy),
  place,
  label: 'a label',
  ...more,
});
const idsOf = (policy: string, place?: string, more?: Partial<PlacedPolicy>) =>
  planCounters(placed(policy, place, more)).map(({ id }) => id);

describe('the identity of a counter', () => {
  const same = 'token-bucket,5,10';

  it.each([
    ['another limit', 'token-bucket,6,10'],
    ['another burst', 'token-bucket,5,10,burst=50'],
    ['the window spelled otherwise', 'token-bucket,5,10000ms'],
    ['the dimensions it has anyway', 'token-bucket,5,10,by=user+api'],
    ['another mode', 'token-bucket,5,10,mode=shadow'],
    ['what outranks others', 'token-bucket,5,10,final=true'],
    ['what it does when its store is away', 'token-bucket,5,10,onStoreError=deny'],
  ])('is the same with %s', (_what, other) => {
    expect(idsOf(other)).toEqual(idsOf(same));
  });

  it.each([
    ['another algorithm', 'fixed-window,5,10'],
    ['another window', 'token-bucket,5,11'],
    ['other dimensions', 'token-bucket,5,10,by=ip'],
    ['more dimensions', 'token-bucket,5,10,by=user+api+ip'],
    ['its dimensions in another order', 'token-bucket,5,10,by=api+user'],
    ['a name', 'token-bucket,5,10,name=a'],
  ])('differs with %s', (_what, other) => {
    expect(idsOf(other)).not.toEqual(idsOf(same));
  });

  it('differs with the place, and not with the label', () => {
    expect(idsOf(same, 'api:/a')).not.toEqual(idsOf(same, 'api:/b'));
    expect(idsOf(same, 'api:/a', { label: 'x' })).toEqual(idsOf(same, 'api:/a', { label: 'y' }));
  });

  it('differs with the ordinal among equals, which other rules between them do not move', () => {
    const [first, second] = idsOf(`${same} & ${same}`);
    expect(first).not.toBe(second);
    expect(idsOf(same)).toEqual([first]);
    const between = idsOf(
      'fixed-window,1,1 & token-bucket,7,10 & fixed-window,2,1 & token-bucket,8,10',
    );
    expect([between[1], between[3]]).toEqual([first, second]);
    expect(new Set(between).size).toBe(4);
  });

  it('is the same after a rebuild, in this process and in another', () => {
    const policy = `${same} & fixed-window,9,1d,by=ip & sliding-window,3,1s,name=a`;
    const before = idsOf(policy, 'user:vip-1.api./login');
    expect(idsOf(policy, 'user:vip-1.api./login')).toEqual(before);
    jest.isolateModules(() => {
      const fresh: typeof import('../../src/core/counter-plan.js') = require('../../src/core/counter-plan.js');
      const {
        Policy: FreshPolicy,
      }: typeof import('../../src/core/policy.js') = require('../../src/core/policy.js');
      expect(FreshPolicy).not.toBe(Policy);
      const rebuilt = {
        ...placed(policy, 'user:vip-1.api./login'),
        policy: FreshPolicy.of(policy),
      };
      expect(fresh.planCounters(rebuilt).map(({ id }) => id)).toEqual(before);
    });
  });

  it('is the same for a name, wherever it stands', () => {
    const named = 'token-bucket,5,10,name=day';
    expect(idsOf(named, 'api:/a')).toEqual(idsOf(named, 'user:u'));
    expect(idsOf(`${same} & ${named}`, 'tier:pro')[1]).toBe(idsOf(named)[0]);
    expect(idsOf(named)).not.toEqual(idsOf('token-bucket,5,10,name=night'));
    expect(idsOf(named)).not.toEqual(idsOf('token-bucket,5,11,name=day'));
  });

  it('is never that of a place that looks like a name', () => {
    expect(idsOf('token-bucket,5,10,name=day')).not.toEqual(idsOf(same, 'day'));
    expect(idsOf(same, 'policy:day')).not.toEqual(idsOf('token-bucket,5,10,name=day'));
  });

  it('is that of the wider place for rules that do not count by api', () => {
    const wide = { sharedPlace: 'OrdersModule/Orders' };
    const at = (rule: string, method: string) => idsOf(rule, `OrdersModule/Orders.${method}`, wide);
    expect(at('token-bucket,5,10,by=user', 'list')).toEqual(
      at('token-bucket,5,10,by=user', 'find'),
    );
    expect(at('token-bucket,5,10', 'list')).not.toEqual(at('token-bucket,5,10', 'find'));
    expect(at('token-bucket,5,10,by=user', 'list')).toEqual(
      idsOf('token-bucket,5,10,by=user', 'OrdersModule/Orders'),
    );
  });

  it('is never that of another place, window, algorithm, dimension or ordinal', () => {
    const rule = fc
      .tuple(
        fc.constantFrom('token-bucket', 'fixed-window', 'sliding-window'),
        fc.constantFrom('1ms', '11ms', '111ms'),
        fc.constantFrom(
          'user+api',
          'user',
          'api',
          'api+user',
          'ip',
          'global',
          'user1',
          'api+1user',
        ),
      )
      .map(([algorithm, window, by]) => ({ algorithm, window, by }))
      .filter(({ by }) => !by.includes('+1'));
    const place = fc.oneof(
      fc.constantFrom('a', 'a1', '1:a', 'default', 'api:/a', 'api:/a1:0'),
      word,
    );
    holds(
      300,
      fc.property(
        fc.array(fc.tuple(place, fc.array(rule, { minLength: 1, maxLength: 4 })), { maxLength: 8 }),
        (policies) => {
          const kinds = new Map<string, string>();
          for (const [at, rules] of policies) {
            const counts = new Map<string, number>();
            const ids = idsOf(
              rules.map((r) => `${r.algorithm},5,${r.window},by=${r.by}`).join('&'),
              at,
            );
            for (const [i, one] of rules.entries()) {
              const kind = JSON.stringify([at, one]);
              const ordinal = counts.get(kind) ?? 0;
              counts.set(kind, ordinal + 1);
              const written = JSON.stringify([kind, ordinal]);
              const id = ids[i] ?? '';
              expect(kinds.get(id) ?? written).toBe(written);
              kinds.set(id, written);
            }
          }
        },
      ),
    );
  });
});

describe('a plan', () => {
  it('is made once for each policy and place', () => {
    const book = RuleBook.of({ default: 'token-bucket,5,10', policy: { a: 'token-bucket,5,10' } });
    const [one] = book.entries;
    expect(one && planCounters(one)).toBe(one && planCounters({ ...one }));
    const policy = Policy.parse('token-bucket,5,10');
    expect(planCounters({ policy, place: 'a', label: 'a' })).not.toEqual(
      planCounters({ policy, place: 'b', label: 'b' }),
    );
  });

  it('is called what its rule is called, else its policy, further ones with a number', () => {
    const labelsOf = (policy: string) =>
      planCounters(placed(policy, 'default', { label: 'search' })).map(({ label }) => label);
    const rule = 'token-bucket,5,10';
    expect(labelsOf(rule)).toEqual(['search']);
    expect(labelsOf(`${rule} & ${rule} & ${rule}`)).toEqual(['search', 'search-2', 'search-3']);
    expect(labelsOf(`${rule},name=a & ${rule} & ${rule},name=b`)).toEqual(['a', 'search-2', 'b']);
  });
});

describe('the counter of a plan', () => {
  const valuesOf = (rule: string, who: Partial<Asker>, more: Partial<PlacedPolicy> = {}) => {
    const [plan] = planCounters(placed(rule, 'default', more));
    return plan && counterOf(plan, asker(who))?.values;
  };
  const alice = { userId: 'alice', address: '10.0.0.1', dimensions: { tenant: 'acme' } };

  it.each([
    ['token-bucket,5,10', ['alice', '/orders']],
    ['token-bucket,5,10,by=api+user', ['/orders', 'alice']],
    ['token-bucket,5,10,by=tenant+ip', ['acme', '@10.0.0.1']],
    ['token-bucket,5,10,by=global', ['']],
    ['token-bucket,5,10,by=region+user', ['@10.0.0.1', 'alice']],
  ])('counts %s by %j', (rule, values) => {
    expect(valuesOf(rule, alice)).toEqual(values);
  });

  it('is none where a dimension has neither a value nor an address', () => {
    expect(valuesOf('token-bucket,5,10', {})).toBeUndefined();
    expect(valuesOf('token-bucket,5,10,by=user+tenant', { userId: 'alice' })).toBeUndefined();
    expect(valuesOf('token-bucket,5,10,by=api', {})).toEqual(['/orders']);
    expect(valuesOf('token-bucket,5,10,by=global', {})).toEqual(['']);
  });

  it('leaves out the api where the place says it already', () => {
    const here = { placeIsApi: true };
    expect(valuesOf('token-bucket,5,10', alice, here)).toEqual(['alice']);
    expect(valuesOf('token-bucket,5,10,by=api', alice, here)).toEqual([]);
    expect(valuesOf('token-bucket,5,10,by=user+ip', alice, here)).toEqual(['alice', '@10.0.0.1']);
  });

  it('keeps the api of a named rule, which stands in several places', () => {
    const here = { placeIsApi: true };
    expect(valuesOf('token-bucket,5,10,name=a', alice, here)).toEqual(['alice', '/orders']);
  });

  it('knows its plan', () => {
    const [plan] = planCounters(placed('token-bucket,5,10'));
    expect(plan && counterOf(plan, asker(alice))?.plan).toBe(plan);
  });
});
