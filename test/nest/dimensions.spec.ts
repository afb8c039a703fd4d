import { createHmac } from 'node:crypto';
import type { ExecutionContext } from '@nestjs/common';
import fc from 'fast-check';
import { Faults, faultText } from '../../src/core/fault.js';
import { checkSecretKey, readDimensions } from '../../src/nest/dimension-options.js';
import { Dimensions } from '../../src/nest/dimensions.js';
import { holds } from '../laws/support.js';

const KEY = 'a key of some length';
const ctx = { name: 'the context' } as unknown as ExecutionContext;

/** The dimensions of an option, and what was warned of: topic and text. */
function open(option: unknown, key: string | Uint8Array = KEY) {
  const faults = new Faults();
  const read = readDimensions(option, faults);
  faults.throwIfAny();
  const warned: [string, string][] = [];
  const dimensions = new Dimensions(read, key, { once: (...one) => void warned.push(one) });
  return { dimensions, warned };
}

/** The values of all dimensions of an option. */
function valuesOf(option: Record<string, unknown>) {
  return open(option).dimensions.valuesFor(Object.keys(option), ctx);
}

const plain = (values: unknown) => ({ ...(values as object) });

/** What a secret value becomes, worked out anew. */
function hashed(name: string, value: string, key: string | Uint8Array = KEY): string {
  const message = Buffer.from(`${name}:${value}`, 'utf16le');
  return createHmac('sha256', key).update(message).digest('base64url').slice(0, 22);
}

describe('the values of a request', () => {
  it('are asked for with the context, those that are known and named', () => {
    const asked: unknown[] = [];
    const ask = (...given: unknown[]) => {
      asked.push(given);
      return 'a';
    };
    const { dimensions } = open({ tenant: ask, plan: { value: ask }, other: ask });
    const values = dimensions.valuesFor(['user', 'plan', 'tenant', 'unknown', 'ip'], ctx);
    expect(plain(values)).toEqual({ plan: 'a', tenant: 'a' });
    expect(asked).toEqual([[ctx], [ctx]]);
  });

  it.each([[[]], [['user', 'api', 'ip', 'global']], [['constructor', '__proto__', 'toString']]])(
    'are none at all for %p',
    (names) => {
      expect(open({ tenant: () => 'a' }).dimensions.valuesFor(names, ctx)).toBeUndefined();
    },
  );

  it.each([
    ['', ''],
    ['a b', 'a b'],
    ['@10.0.0.1', '@10.0.0.1'],
    ['\uD800', '\uD800'],
    [0, '0'],
    [-0, '0'],
    [7.5, '7.5'],
    [2n ** 70n, '1180591620717411303424'],
    ['x'.repeat(20_000), 'x'.repeat(20_000)],
  ])('are text: %p', (given, text) => {
    expect(plain(valuesOf({ tenant: () => given }))).toEqual({ tenant: text });
  });

  it.each([undefined, null])('are left out where there is none: %p', (none) => {
    const { dimensions, warned } = open({ tenant: () => none, plan: () => 'a' });
    expect(plain(dimensions.valuesFor(['tenant', 'plan'], ctx))).toEqual({ plan: 'a' });
    expect(warned).toEqual([]);
  });

  it('have nothing that every object has', () => {
    const values = valuesOf({ tenant: () => undefined });
    expect(values).toBeDefined();
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect('constructor' in (values as object)).toBe(false);
  });

  it('come at once when no function promises anything', () => {
    expect(valuesOf({ tenant: () => 'a', plan: () => undefined })).not.toBeInstanceOf(Promise);
  });

  it('are promised when one is, and asked for all at once', async () => {
    const answer: ((text: string) => void)[] = [];
    const later = () => new Promise<string>((resolve) => void answer.push(resolve));
    const values = valuesOf({ one: later, two: () => 'b', three: later });
    expect(answer).toHaveLength(2);
    answer[1]?.('c');
    answer[0]?.('a');
    expect(values).toBeInstanceOf(Promise);
    expect(plain(await values)).toEqual({ one: 'a', two: 'b', three: 'c' });
  });

  it('may be promised by promises of any library', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library
    const thenable = { then: (resolve: (text: string) => void) => resolve('a') };
    expect(plain(await valuesOf({ tenant: () => thenable }))).toEqual({ tenant: 'a' });
  });
});

describe('a dimension that fails', () => {
  const kinds: readonly [string, unknown, string][] = [
    ['an object', { id: 1 }, 'object'],
    ['a list', ['a'], 'object'],
    ['NaN', Number.NaN, 'NaN'],
    ['Infinity', Number.POSITIVE_INFINITY, 'Infinity'],
    ['a boolean', true, 'boolean'],
    ['a symbol', Symbol('a'), 'symbol'],
    ['a function', () => 'a', 'function'],
  ];

  it.each(kinds)('has no value where it answers %s, and is told of', async (_what, value, said) => {
    const text = `The dimension tenant is text or a number, got ${said}: such callers are counted by address`;
    for (const answer of [() => value, async () => value]) {
      const { dimensions, warned } = open({ tenant: answer, plan: () => 'a' });
      expect(plain(await dimensions.valuesFor(['tenant', 'plan'], ctx))).toEqual({ plan: 'a' });
      expect(warned).toEqual([['dimension tenant', text]]);
    }
  });

  const failures: readonly [string, () => unknown, string][] = [
    [
      'throws',
      () => {
        throw new Error('no');
      },
      ': no',
    ],
    [
      'throws text',
      () => {
        throw 'text';
      },
      ': text',
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
      ': undefined',
    ],
    [
      'rejects',
      async () => {
        throw new Error('no');
      },
      ': no',
    ],
    ['rejects with nothing', () => Promise.reject(), ': undefined'],
    [
      'answers what throws when it is looked at',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('no');
          },
        }),
      ': no',
    ],
  ];

  it.each(failures)('has no value where it %s, and is told of', async (_how, fail, said) => {
    const { dimensions, warned } = open({ tenant: fail, plan: () => 'a' });
    expect(plain(await dimensions.valuesFor(['tenant', 'plan'], ctx))).toEqual({ plan: 'a' });
    const text = `The dimension tenant has a function that failed${said}: such callers are counted by address`;
    expect(warned).toEqual([['dimension tenant', text]]);
  });

  it.each(failures)('keeps the secret when one of secrets %s', async (_how, fail) => {
    const { dimensions, warned } = open({ key: { value: fail, secret: true } });
    expect(plain(await dimensions.valuesFor(['key'], ctx))).toEqual({});
    const text =
      'The dimension key has a function that failed: such callers are counted by address';
    expect(warned).toEqual([['dimension key', text]]);
  });
});

describe('a secret value', () => {
  const secret = (value: unknown) => ({ value: () => value, secret: true });

  it('is 22 characters of an HMAC of name and value', () => {
    expect(plain(valuesOf({ key: secret('sk-1') }))).toEqual({ key: hashed('key', 'sk-1') });
    expect(hashed('key', 'sk-1')).toMatch(/^[\w-]{22}$/);
  });

  it('stays the same in every release, or counters begin anew', () => {
    expect(plain(valuesOf({ key: secret('sk-1') }))).toEqual({ key: 'Daexy8ntzkMCDLhVpzVlAI' });
  });

  it('is hashed where it is promised, and where it is a number', async () => {
    const values = valuesOf({ key: { value: async () => 'a', secret: true }, pin: secret(7) });
    expect(plain(await values)).toEqual({ key: hashed('key', 'a'), pin: hashed('pin', '7') });
  });

  it('is hashed to another text under another name, and with another key', () => {
    const one = plain(valuesOf({ a: secret('x'), b: secret('x') })) as Record<string, string>;
    expect(one['a']).not.toBe(one['b']);
    const { dimensions } = open({ a: secret('x') }, 'another key of some length');
    expect(plain(dimensions.valuesFor(['a'], ctx))).not.toEqual({ a: one['a'] });
  });

  it('takes a key of bytes, the same as its text, and one that changes later', () => {
    const bytes = new Uint8Array(Buffer.from(KEY));
    const { dimensions } = open({ a: secret('x') }, bytes);
    bytes.fill(0);
    expect(plain(dimensions.valuesFor(['a'], ctx))).toEqual({ a: hashed('a', 'x') });
  });

  it('may be huge, empty, or no text that UTF-8 can spell', () => {
    const values = [
      'x'.repeat(100_000),
      `${'x'.repeat(99_999)}y`,
      '',
      '\uD800',
      '\uD801',
      '\uFFFD',
    ];
    const hashes = values.map((value) => JSON.stringify(plain(valuesOf({ key: secret(value) }))));
    expect(new Set(hashes).size).toBe(values.length);
    for (const hash of hashes) expect(hash).toMatch(/^\{"key":"[\w-]{22}"\}$/);
  });

  it('never is what it was, and differs for all that differ', () => {
    const { dimensions } = open({ a: secret('-'), b: secret('-') });
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'a', 'a:', ':a'));
    const pair = fc.tuple(fc.constantFrom('a', 'b'), text);
    holds(
      500,
      fc.property(pair, pair, (one, other) => {
        const [first, second] = [one, other].map(([name, value]) => {
          const shown = plain(dimensions.shown({ [name]: value })) as Record<string, string>;
          expect(shown).toEqual({ [name]: hashed(name, value) });
          return shown[name];
        });
        expect(first === second).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
    );
  });
});

describe('the values that a caller names', () => {
  const option = { key: { value: () => 'sk-1', secret: true }, tenant: () => 'a' };

  it('are hashed where they are secret, as those of a request, and else stay', () => {
    const { dimensions } = open(option);
    const shown = dimensions.shown({ key: 'sk-1', tenant: 'b', ip: '::1', unknown: 'x' });
    const asked = plain(dimensions.valuesFor(['key'], ctx));
    expect(plain(shown)).toEqual({ ...asked, tenant: 'b', ip: '::1', unknown: 'x' });
  });

  it('may be none', () => {
    expect(open(option).dimensions.shown(undefined)).toBeUndefined();
    expect(plain(open(option).dimensions.shown({}))).toEqual({});
  });

  it('may have any name', () => {
    const given = JSON.parse('{"__proto__":"a","constructor":"b"}');
    const shown = open(option).dimensions.shown(given);
    expect(Object.entries(shown)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('are left out where a secret is no text, and never shown', () => {
    const { dimensions, warned } = open(option);
    expect(plain(dimensions.shown({ key: { sk: 1 } } as never))).toEqual({});
    expect(plain(dimensions.shown({ key: 7 } as never))).toEqual({ key: hashed('key', '7') });
    expect(warned).toEqual([
      [
        'dimension key',
        'The dimension key is text or a number, got object: such callers are counted by address',
      ],
    ]);
  });
});

describe('the option dimensions', () => {
  /** What is wrong with it, a line each, and the names that were read. */
  function read(option: unknown) {
    const faults = new Faults();
    const names = [...readDimensions(option, faults).keys()];
    const codes = faults.list.map(({ code }) => code);
    return { names, codes, faults: faults.list.map(faultText) };
  }

  const value = () => 'a';

  it.each([
    [undefined, []],
    [{}, []],
    [Object.assign(Object.create(null), { tenant: value }), ['tenant']],
    [{ tenant: value, 'api-key': { value, secret: true } }, ['tenant', 'api-key']],
    [
      { a: { value }, B_9: { value, secret: false }, c: { value, secret: undefined } },
      ['a', 'B_9', 'c'],
    ],
    [{ tenant: undefined, plan: async () => 1 }, ['plan']],
    [{ constructor: value, toString: value }, ['constructor', 'toString']],
  ])('takes %p', (option, names) => {
    expect(read(option)).toEqual({ names, codes: [], faults: [] });
  });

  it.each([
    ['tenant', 'tenant'],
    [null, 'null'],
    [[value], '[null]'],
    [new Map([['tenant', value]]), '{}'],
    [value, 'function value'],
    [7, '7'],
  ])('does not take %p', (option, given) => {
    expect(read(option)).toEqual({
      names: [],
      codes: ['OPTION_VALUE'],
      faults: [
        `Invalid ${JSON.stringify(given)} for option dimensions: it takes an object: functions of the execution context by name`,
      ],
    });
  });

  it.each(['user', 'api', 'ip', 'global'])('does not take the name %s', (name) => {
    expect(read({ [name]: value })).toEqual({
      names: [],
      codes: ['OPTION_VALUE'],
      faults: [
        `Invalid "${name}" for option dimensions.${name}: user, api, ip, global are there already, and mean what they mean`,
      ],
    });
  });

  it.each([
    ['', '""'],
    ['9lives', '9lives'],
    ['_a', '_a'],
    [' a', '" a"'],
    ['a+b', '"a+b"'],
    ['a.b', '"a.b"'],
    ['é', '"é"'],
    ['a\n', '"a\\n"'],
    ['__proto__', '__proto__'],
  ])('does not take the name %p', (name, shown) => {
    expect(read(Object.fromEntries([[name, value]]))).toEqual({
      names: [],
      codes: ['OPTION_VALUE'],
      faults: [
        `Invalid ${JSON.stringify(name)} for option dimensions.${shown}: a name begins with a letter and goes on with letters, digits, - and _`,
      ],
    });
  });

  it.each([
    ['x', 'x', 'it takes a function of the execution context, or { value, secret }'],
    [null, 'null', 'it takes a function of the execution context, or { value, secret }'],
    [[value], '[null]', 'it takes a function of the execution context, or { value, secret }'],
    [{}, 'undefined', 'value is a function of the execution context'],
    [{ value: 'x' }, 'x', 'value is a function of the execution context'],
    [{ value, secret: 'yes' }, 'yes', 'secret is true or false'],
    [{ value, secret: null }, 'null', 'secret is true or false'],
  ])(
    'does not take %p for a dimension, whose name is known all the same',
    (option, given, problem) => {
      expect(read({ tenant: option })).toEqual({
        names: ['tenant'],
        codes: ['OPTION_VALUE'],
        faults: [`Invalid ${JSON.stringify(given)} for option dimensions.tenant: ${problem}`],
      });
    },
  );

  it('tells of everything at once, and what was probably meant', () => {
    const { codes, faults, names } = read({ tenant: { vlaue: value, secert: true }, ip: value });
    expect(faults).toEqual([
      'Invalid "vlaue" for option dimensions.tenant: there is no such field; there are value, secret (did you mean "value"?)',
      'Invalid "secert" for option dimensions.tenant: there is no such field; there are value, secret (did you mean "secret"?)',
      'Invalid "undefined" for option dimensions.tenant: value is a function of the execution context',
      'Invalid "ip" for option dimensions.ip: user, api, ip, global are there already, and mean what they mean',
    ]);
    expect(codes).toEqual(['OPTION_UNKNOWN', 'OPTION_UNKNOWN', 'OPTION_VALUE', 'OPTION_VALUE']);
    expect(names).toEqual(['tenant']);
  });

  it.each([
    ['0123456789abcdef', true],
    ['0123456789abcde', false],
    ['', false],
    [undefined, false],
    [1234567890123456, false],
    [new Uint8Array(32), false],
    [['0123456789abcdef'], false],
  ])('is kept secret with a key of 16 characters or more: %p', (key, right) => {
    expect(checkSecretKey(key)).toBe(right);
  });
});
