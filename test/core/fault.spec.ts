import { errorOf, messageOf, show } from '../../src/core/fault.js';

const throws = () => {
  throw new Error('not to be read');
};

/** Values that throw when they are asked for text, and what is shown of them. */
const odd: readonly (readonly [what: string, make: () => unknown, shown: string])[] = [
  ['a symbol', () => Symbol('s'), 'Symbol(s)'],
  ['a whole number without end', () => 5n, '[object BigInt]'],
  ['an object without a prototype', () => Object.create(null), '{}'],
  [
    'one that JSON leaves out',
    () => Object.assign(Object.create(null), { toJSON: () => undefined }),
    '[object Object]',
  ],
  ['one whose toJSON throws', () => ({ toJSON: throws }), '[object Object]'],
  [
    'one whose kind throws too',
    () => Object.defineProperty({ toJSON: throws }, Symbol.toStringTag, { get: throws }),
    'an object that cannot be read',
  ],
  [
    'a function whose name throws',
    () => Object.defineProperty(() => 1, 'name', { get: throws }),
    'a function that cannot be read',
  ],
  [
    'a function whose name is a symbol',
    () => Object.defineProperty(() => 1, 'name', { value: Symbol('s') }),
    'a function that cannot be read',
  ],
  ['a revoked proxy', () => revoked({}), 'an object that cannot be read'],
  ['a revoked proxy of a function', () => revoked(throws), 'a function that cannot be read'],
];

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

describe.each(odd)('%s', (_what, make, shown) => {
  it('is shown', () => {
    expect(show(make())).toBe(shown);
  });

  it('has a message, and becomes an error, when it is thrown', () => {
    expect(messageOf(make())).toBe(shown);
    const error = errorOf(make());
    expect([error.constructor, error.message]).toEqual([Error, shown]);
  });
});

describe('what was thrown', () => {
  it.each<[unknown, string]>([
    [new TypeError('wrong'), 'wrong'],
    [{ message: 'like an error' }, 'like an error'],
    [{ message: 5 }, '{"message":5}'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [new (class Silent extends Error {})(), 'Error'],
    [new AggregateError([]), 'AggregateError'],
  ])('says what it is: %p', (thrown, said) => {
    expect(messageOf(thrown)).toBe(said);
  });

  it('says so where its message throws', () => {
    expect(messageOf(Object.defineProperty({ a: 1 }, 'message', { get: throws }))).toBe('{"a":1}');
  });

  it('stays the error that it is', () => {
    const error = new TypeError('wrong');
    expect(errorOf(error)).toBe(error);
  });
});
