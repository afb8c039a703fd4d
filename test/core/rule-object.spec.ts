import fc from 'fast-check';
import { Policy } from '../../src/core/policy.js';
import { Rule } from '../../src/core/rule.js';
import type { RuleObject } from '../../src/core/rule-fields.js';
import { holds } from '../laws/support.js';
import { validRuleText } from '../types/rule-text.arbitrary.js';
import { faultsOf } from './faults.js';

/** Objects as they come from a file or from JavaScript, unchecked by the compiler. */
const read = (object: object) => Rule.of(object as RuleObject);
const codesOf = (object: object) => faultsOf(() => read(object)).map(({ code }) => code);

describe('a rule as an object', () => {
  it('is a token bucket unless told otherwise', () => {
    expect(Rule.of({ limit: 5, window: 10 })).toEqual(Rule.parse('token-bucket,5,10'));
  });

  it.each([
    [{ limit: 5, window: 10 }, 'token-bucket,5,10'],
    [{ limit: 5, window: '10' }, 'token-bucket,5,10'],
    [{ limit: 5, window: '10s' }, 'token-bucket,5,10'],
    [{ limit: 5, window: 0.5 }, 'token-bucket,5,500ms'],
    [{ limit: 5, window: 1.005 }, 'token-bucket,5,1005ms'],
    [{ limit: 5, windowMillis: 10_000 }, 'token-bucket,5,10'],
    [{ limit: 5, windowMillis: 1 }, 'token-bucket,5,1ms'],
    [{ limit: '5', windowMillis: '10000', burst: '7' }, 'token-bucket,5,10,burst=7'],
    [{ limit: 5, window: '1m', by: 'user+ip' }, 'token-bucket,5,1m,by=user+ip'],
    [{ limit: 5, window: '1m', by: ['user', 'ip'] }, 'token-bucket,5,1m,by=user+ip'],
    [{ limit: 5, window: '1m', final: true }, 'token-bucket,5,1m,final=true'],
    [{ limit: 5, window: '1m', final: 'true' }, 'token-bucket,5,1m,final=true'],
    [{ limit: 5, window: '1m', final: false }, 'token-bucket,5,1m'],
    [{ limit: 5, window: '1m', wait: 0.2 }, 'token-bucket,5,1m,wait=200ms'],
    [{ limit: 5, window: '1m', wait: '200ms' }, 'token-bucket,5,1m,wait=200ms'],
    [{ algorithm: 'sliding-window-log', limit: 5, window: '1m' }, 'sliding-window,5,1m'],
    [
      { limit: 5, window: '1m', windowMillis: undefined, burst: undefined, name: undefined },
      'token-bucket,5,1m',
    ],
  ] as const)('%j is %s', (object: RuleObject, text: string) => {
    expect(Rule.of(object)).toEqual(Rule.parse(text));
  });

  it('has the fields of the text', () => {
    holds(
      1000,
      fc.property(validRuleText(), fc.boolean(), (text, asText) => {
        for (const rule of Policy.parse(text).rules) {
          const { waitMillis, windowMillis, limit, burst, ...fields } = rule;
          const number = (value: number) => (asText ? ` ${value} ` : value);
          const object = {
            ...fields,
            limit: number(limit),
            windowMillis: number(windowMillis),
            burst: burst === undefined ? undefined : number(burst),
            wait: waitMillis === 0 ? undefined : `${waitMillis}ms`,
          };
          expect(Rule.of(object)).toEqual(rule);
        }
      }),
    );
  });
});

describe('a number that arrives as text', () => {
  const ACCEPTED = ['5', '5 ', ' 5', '\t5\n', '005'];

  it.each(['limit', 'windowMillis', 'burst'] as const)('is converted as %s', (field) => {
    for (const value of ACCEPTED) {
      const rule = Rule.of({ limit: 3, windowMillis: 1000, [field]: value });
      expect(rule[field]).toBe(5);
    }
  });

  const REFUSED = [
    ...['1e3', '0x10', '0b1', '', ' ', 'five', '-1', '+5', '0', '1_000', '1 000', '5n', '٣', '５'],
    ...['NaN', 'Infinity', '9007199254740992', '99999999999999999999', '5;', '5=5', 'undefined'],
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0, -0, 0.1, 1.5],
    ...[2 ** 53, 2 ** 53 + 2, 1e21, 1e-7, true, false, null, {}, [], [5], 5n, Symbol('5'), () => 5],
  ];

  it.each(['limit', 'windowMillis', 'burst'] as const)('is refused as %s', (field) => {
    const accepted = REFUSED.filter((value) => {
      return codesOf({ limit: 3, windowMillis: 1000, [field]: value }).length === 0;
    });
    expect(accepted).toEqual([]);
  });

  it('is refused with what was given', () => {
    const told = (limit: unknown) => faultsOf(() => read({ limit, window: 10 }))[0]?.problem;
    expect(told('1e3')).toBe('limit must be a positive whole number, got 1e3');
    expect(told(Number.NaN)).toBe('limit must be a positive whole number, got NaN');
    expect(told(2 ** 53)).toBe('limit must be a positive whole number, got 9007199254740992');
    expect(told('')).toBe('limit must be a positive whole number, got nothing');
    expect(told(null)).toBe('limit is null, which is no value for it');
    expect(told([5])).toBe('limit is [5], which is no value for it');
  });

  it.each(['10ms', '10s', '1.5', 'ms', 10.5, 0, '0', 2 ** 53])(
    'is refused as windowMillis where it is no whole number of milliseconds: %p',
    (value) => {
      expect(codesOf({ limit: 5, windowMillis: value })).toEqual(['RULE_WINDOW']);
    },
  );

  it('makes numbers and no text', () => {
    const rule = Rule.of({ limit: '5', windowMillis: '10000', burst: '7' });
    expect([rule.limit + 1, rule.windowMillis + 1, (rule.burst ?? 0) + 1]).toEqual([6, 10_001, 8]);
  });

  it('takes every window that the printer may print', () => {
    const windowMillis = 1_234_567_890_123_457;
    const rule = { algorithm: 'fixed-window', limit: 5, windowMillis } as const;
    expect(Rule.of(rule).windowMillis).toBe(windowMillis);
  });
});

describe('a faulty object', () => {
  it.each([
    [{}, ['limit is missing', 'window is missing']],
    [{ limit: 5 }, ['window is missing']],
    [{ window: 5 }, ['limit is missing']],
    [{ limit: undefined, window: undefined }, ['limit is missing', 'window is missing']],
    [
      { limit: 5, window: 10, windowMillis: 10_000 },
      ['window and windowMillis are two spellings of one thing: give one'],
    ],
    [{ limit: 5, window: null }, ['window is null, which is no value for it']],
    [{ limit: 5, window: 10, by: { user: true } }, ['by is {"user":true}, which is no value']],
    [{ limit: 5, window: 10, name: ['a'] }, ['name is ["a"], which is no value for it']],
    [{ limit: 5, window: 10, final: null }, ['final is null, which is no value for it']],
    [{ limit: 5, window: 10, mode: true }, ['mode is true, which is no value for it']],
  ])('%j is refused: %j', (object, problems) => {
    const faults = faultsOf(() => read(object));
    expect(faults.map(({ code }) => code)).toEqual(problems.map(() => 'RULE_SYNTAX'));
    for (const [i, problem] of problems.entries()) expect(faults[i]?.problem).toContain(problem);
  });

  it.each([
    ['widow', 'window'],
    ['windowMilis', 'windowMillis'],
    ['Limit', 'limit'],
    ['brust', 'burst'],
    ['onStoreerror', 'onStoreError'],
    ['ttl', undefined],
    ['waitMillis', undefined],
    ['constructor', undefined],
  ])('has an unknown field %s, and perhaps %s was meant', (field, meant) => {
    expect(faultsOf(() => read({ limit: 5, window: 10, [field]: 1 }))).toEqual([
      {
        code: 'RULE_SYNTAX',
        place: 'a rule',
        given: JSON.stringify({ limit: 5, window: 10, [field]: 1 }),
        problem: expect.stringMatching(
          new RegExp(`^unknown field "${field}"; use algorithm, limit`),
        ),
        meant,
      },
    ]);
  });

  it.each([
    [null, 'null'],
    [5, '5'],
    [true, 'true'],
    [undefined, 'undefined'],
    ['token-bucket,5,10', 'token-bucket,5,10'],
    [[{ limit: 5, window: 10 }], '[{"limit":5,"window":10}]'],
  ])('%j is none', (value, given) => {
    const problem = expect.stringContaining('an object with limit and window');
    expect(faultsOf(() => Rule.of(value as never))).toEqual([
      { code: 'RULE_SYNTAX', place: 'a rule', given, problem, meant: undefined },
    ]);
  });

  it('tells all of its faults at once, with the object as given', () => {
    const given = { algorithm: 'fixed-windw', limit: 0, window: '-1', name: 'A' };
    const faults = faultsOf(() => read(given));
    expect(faults.map(({ code }) => code)).toEqual([
      'RULE_ALGORITHM',
      'RULE_OPTION',
      'RULE_LIMIT',
      'RULE_WINDOW',
    ]);
    expect(faults[0]?.meant).toBe('fixed-window');
    expect(new Set(faults.map((fault) => fault.given))).toEqual(new Set([JSON.stringify(given)]));
  });

  it('is told even when it cannot be printed', () => {
    const round: Record<string, unknown> = { limit: 5, window: 10 };
    round['by'] = round;
    expect(codesOf(round)).toEqual(['RULE_SYNTAX']);
  });
});

describe('a field that holds more than its own value', () => {
  const FIELDS = [
    ...['algorithm', 'limit', 'window', 'windowMillis', 'burst', 'by', 'name', 'count', 'mode'],
    ...['onStoreError', 'wait', 'final'],
  ];
  const whole = { limit: 5, window: 10 };
  const smuggled = [
    '5,10,final=true',
    'token-bucket,1,1',
    'ip,final=true',
    'true,by=global',
    'a & token-bucket,1000000,1',
    'a&b',
    '10,',
    ',',
    '&',
  ];

  it.each(FIELDS)('is refused in %s', (field) => {
    const { window, ...rest } = whole;
    const base = field === 'windowMillis' ? rest : { ...rest, window };
    expect(smuggled.filter((text) => codesOf({ ...base, [field]: text }).length === 0)).toEqual([]);
  });

  it.each([
    [['ip,final=true']],
    [['ip', 'user,name=other']],
    [['ip&global']],
    [['user,burst=900']],
  ])('is refused in the list %j of by', (by) => {
    expect(codesOf({ ...whole, by })).not.toEqual([]);
  });

  it.each([[[undefined]], [[null]], [[5]], [['ip', {}]]])(
    'is refused in by when it is no text: %j',
    (by) => {
      expect(codesOf({ ...whole, by })).not.toEqual([]);
    },
  );

  it('is refused, whatever stands around a comma or an ampersand', () => {
    holds(
      1000,
      fc.property(
        fc.constantFrom(...FIELDS),
        fc.string(),
        fc.constantFrom(',', '&'),
        fc.string(),
        (field, before, separator, after) => {
          expect(codesOf({ limit: 5, [field]: `${before}${separator}${after}` })).not.toEqual([]);
        },
      ),
    );
  });
});
