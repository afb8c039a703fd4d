import fc from 'fast-check';
import { RateLimitConfigError } from '../../src/core/fault.js';
import { Policy } from '../../src/core/policy.js';
import { Rule } from '../../src/core/rule.js';
import { holds } from '../laws/support.js';
import { validRuleText } from '../types/rule-text.arbitrary.js';
import { faultsOf } from './faults.js';

const DEFAULTS = {
  by: ['user', 'api'],
  name: undefined,
  count: 'all',
  mode: 'enforce',
  onStoreError: undefined,
  waitMillis: 0,
  final: false,
};

const S = 1000;
const DAY = 86_400_000;

describe('reading a rule', () => {
  it('takes algorithm, limit and window, and fills in the rest', () => {
    expect({ ...Rule.parse('token-bucket,5,10') }).toEqual({
      ...DEFAULTS,
      algorithm: 'token-bucket',
      limit: 5,
      windowMillis: 10 * S,
      burst: 5,
    });
    expect({ ...Rule.parse('fixed-window,2,10') }).toEqual({
      ...DEFAULTS,
      algorithm: 'fixed-window',
      limit: 2,
      windowMillis: 10 * S,
      burst: undefined,
    });
  });

  it.each([
    ['token-bucket', 'token-bucket'],
    ['fixed-window', 'fixed-window'],
    ['sliding-window', 'sliding-window'],
    ['sliding-window-log', 'sliding-window'],
    ['sliding-window-counter', 'sliding-window-counter'],
  ])('knows the algorithm %s as %s', (given, algorithm) => {
    expect(Rule.parse(`${given},5,10`).algorithm).toBe(algorithm);
  });

  it.each([
    ['10', 10 * S],
    ['010', 10 * S],
    ['0.5', 500],
    ['00.50', 500],
    ['0.001', 1],
    ['1.005', 1005],
    ['1.005s', 1005],
    ['4.035s', 4035],
    ['8.325', 8325],
    ['1ms', 1],
    ['250ms', 250],
    ['2.0ms', 2],
    ['10s', 10 * S],
    ['5m', 300 * S],
    ['0.0001m', 6],
    ['1h', 3600 * S],
    ['1.5h', 5400 * S],
    ['1d', DAY],
    ['0.00000625d', 540],
    ['365d', 365 * DAY],
  ])('reads the window %s as %d ms', (window, millis) => {
    expect(Rule.parse(`fixed-window,5,${window}`).windowMillis).toBe(millis);
  });

  it.each([
    ['burst=7', { burst: 7 }],
    ['burst=1', { burst: 1 }],
    ['by=ip', { by: ['ip'] }],
    ['by=user+api+tenant', { by: ['user', 'api', 'tenant'] }],
    ['by= api-key + org_2 ', { by: ['api-key', 'org_2'] }],
    ['name=flood-2', { name: 'flood-2' }],
    ['name=0', { name: '0' }],
    ['count=all', { count: 'all' }],
    ['count=failures', { count: 'failures' }],
    ['count=successes', { count: 'successes' }],
    ['mode=enforce', { mode: 'enforce' }],
    ['mode=shadow', { mode: 'shadow' }],
    ['onStoreError=allow', { onStoreError: 'allow' }],
    ['onStoreError=deny', { onStoreError: 'deny' }],
    ['onStoreError=local', { onStoreError: 'local' }],
    ['wait=200ms', { waitMillis: 200 }],
    ['wait=2', { waitMillis: 2000 }],
    ['final=true', { final: true }],
    ['final=false', { final: false }],
  ])('reads the option %s', (option, fields) => {
    const plain = { ...DEFAULTS, algorithm: 'token-bucket', limit: 5, windowMillis: S, burst: 5 };
    expect({ ...Rule.parse(`token-bucket,5,1,${option}`) }).toEqual({ ...plain, ...fields });
  });

  it('allows white space around every part', () => {
    const spaced = ' \ttoken-bucket , 5\n, 10 ,burst = 7 , by\u00a0=\u2003user + ip\ufeff';
    expect(Rule.parse(spaced)).toEqual(Rule.parse('token-bucket,5,10,burst=7,by=user+ip'));
  });

  it('takes options in any order', () => {
    expect(Rule.parse('token-bucket,5,10,final=true,name=a,burst=7')).toEqual(
      Rule.parse('token-bucket,5,10,burst=7,name=a,final=true'),
    );
  });

  it('makes a rule that nobody can change', () => {
    const rule = Rule.parse('token-bucket,5,10');
    expect(Object.isFrozen(rule)).toBe(true);
  });
});

/** Text, the code and a part of its first fault, and what was meant where something is near. */
const wrong: readonly (readonly [text: string, code: string, problem: string, meant?: string])[] = [
  ['', 'RULE_SYNTAX', 'a rule is algorithm,limit,window such as token-bucket,5,10'],
  ['search', 'RULE_SYNTAX', 'a rule is algorithm,limit,window'],
  ['token-bucket,5', 'RULE_SYNTAX', 'a rule is algorithm,limit,window'],
  ['fixd-window,2,10', 'RULE_ALGORITHM', 'unknown algorithm "fixd-window"', 'fixed-window'],
  ['token_bucket,2,10', 'RULE_ALGORITHM', 'unknown algorithm', 'token-bucket'],
  ['Token-Bucket,2,10', 'RULE_ALGORITHM', 'unknown algorithm', 'token-bucket'],
  ['tokne-bucket,2,10', 'RULE_ALGORITHM', 'unknown algorithm', 'token-bucket'],
  ['sliding-windows,2,10', 'RULE_ALGORITHM', 'unknown algorithm', 'sliding-window'],
  ['leaky-bucket,2,10', 'RULE_ALGORITHM', 'unknown algorithm "leaky-bucket"'],
  ['toString,2,10', 'RULE_ALGORITHM', 'unknown algorithm "toString"'],
  [',2,10', 'RULE_ALGORITHM', 'unknown algorithm ""'],
  ['token-bucket,0,10', 'RULE_LIMIT', 'limit must be a positive whole number, got 0'],
  ['token-bucket,,10', 'RULE_LIMIT', 'got nothing'],
  ['token-bucket,-1,10', 'RULE_LIMIT', 'got -1'],
  ['token-bucket,+1,10', 'RULE_LIMIT', 'got +1'],
  ['token-bucket,1.0,10', 'RULE_LIMIT', 'got 1.0'],
  ['token-bucket,1e3,10', 'RULE_LIMIT', 'got 1e3'],
  ['token-bucket,0x10,10', 'RULE_LIMIT', 'got 0x10'],
  ['token-bucket,1 000,10', 'RULE_LIMIT', 'got 1 000'],
  ['token-bucket,٣,10', 'RULE_LIMIT', 'got ٣'],
  ['token-bucket,NaN,10', 'RULE_LIMIT', 'got NaN'],
  ['token-bucket,Infinity,10', 'RULE_LIMIT', 'got Infinity'],
  ['fixed-window,9007199254740992,10', 'RULE_LIMIT', 'got 9007199254740992'],
  ['token-bucket,5,', 'RULE_WINDOW', 'got nothing'],
  ['token-bucket,5,0', 'RULE_WINDOW', 'window must be a time of whole milliseconds'],
  ['token-bucket,5,0.0000s', 'RULE_WINDOW', 'got 0.0000s'],
  ['token-bucket,5,-10', 'RULE_WINDOW', 'got -10'],
  ['token-bucket,5,0.0005', 'RULE_WINDOW', 'got 0.0005'],
  ['token-bucket,5,1.5ms', 'RULE_WINDOW', 'got 1.5ms'],
  ['token-bucket,5,.5', 'RULE_WINDOW', 'got .5'],
  ['token-bucket,5,5.', 'RULE_WINDOW', 'got 5.'],
  ['token-bucket,5,1e3', 'RULE_WINDOW', 'got 1e3'],
  ['token-bucket,5,10w', 'RULE_WINDOW', 'got 10w'],
  ['token-bucket,5,10S', 'RULE_WINDOW', 'got 10S'],
  ['token-bucket,5,1h30m', 'RULE_WINDOW', 'got 1h30m'],
  ['token-bucket,5,10 s', 'RULE_WINDOW', 'got 10 s'],
  ['token-bucket,5,999999999999999d', 'RULE_WINDOW', 'got 999999999999999d'],
  ['fixed-window,2,10,burst=3', 'RULE_OPTION', 'burst is an option of token-bucket only'],
  ['sliding-window-log,2,10,burst=3', 'RULE_OPTION', 'not of sliding-window'],
  ['token-bucket,5,10,burst=0', 'RULE_OPTION', 'burst must be a positive whole number, got "0"'],
  ['token-bucket,5,10,burst=', 'RULE_OPTION', 'got ""'],
  ['token-bucket,5,10,burst=1e3', 'RULE_OPTION', 'got "1e3"'],
  ['token-bucket,5,10,by=', 'RULE_OPTION', 'by must be dimensions joined with +'],
  ['token-bucket,5,10,by=ip+ip', 'RULE_OPTION', 'each once, got "ip+ip"'],
  ['token-bucket,5,10,by=ip+', 'RULE_OPTION', 'got "ip+"'],
  ['token-bucket,5,10,by=ip user', 'RULE_OPTION', 'got "ip user"'],
  ['token-bucket,5,10,by=__proto__', 'RULE_OPTION', 'got "__proto__"'],
  ['token-bucket,5,10,name=Flood', 'RULE_OPTION', 'name must be of a-z, 0-9 and -, got "Flood"'],
  ['token-bucket,5,10,name=', 'RULE_OPTION', 'got ""'],
  ['token-bucket,5,10,name=a=b', 'RULE_OPTION', 'got "a=b"'],
  ['token-bucket,5,10,count=failure', 'RULE_OPTION', 'count must be all or', 'failures'],
  ['token-bucket,5,10,count=', 'RULE_OPTION', 'count must be'],
  ['token-bucket,5,10,mode=off', 'RULE_OPTION', 'mode must be enforce or shadow'],
  ['token-bucket,5,10,mode=shadwo', 'RULE_OPTION', 'mode must be', 'shadow'],
  ['token-bucket,5,10,onStoreError=denny', 'RULE_OPTION', 'allow or deny or local', 'deny'],
  ['token-bucket,5,10,final=yes', 'RULE_OPTION', 'final must be true or false'],
  ['token-bucket,5,10,final=True', 'RULE_OPTION', 'final must be true or false', 'true'],
  ['token-bucket,5,10,wait=0', 'RULE_OPTION', 'wait must be a time such as 200ms or 2s'],
  ['token-bucket,5,10,wait=soon', 'RULE_OPTION', 'got "soon"'],
  ['token-bucket,5,10,brust=3', 'RULE_OPTION', 'unknown option "brust"', 'burst'],
  ['token-bucket,5,10,Final=true', 'RULE_OPTION', 'unknown option "Final"', 'final'],
  ['token-bucket,5,10,onstoreerror=deny', 'RULE_OPTION', 'unknown option', 'onStoreError'],
  ['token-bucket,5,10,b=ip', 'RULE_OPTION', 'unknown option "b"', 'by'],
  ['token-bucket,5,10,yb=ip', 'RULE_OPTION', 'unknown option "yb"', 'by'],
  ['token-bucket,5,10,cost=3', 'RULE_OPTION', 'unknown option "cost"'],
  ['token-bucket,5,10,toString=3', 'RULE_OPTION', 'unknown option "toString"'],
  ['token-bucket,5,10,=3', 'RULE_OPTION', 'unknown option ""'],
  ['token-bucket,5,10,final', 'RULE_OPTION', 'expected option=value, got "final"'],
  ['token-bucket,5,10,', 'RULE_OPTION', 'expected option=value, got ""'],
  ['token-bucket,5,10,20', 'RULE_OPTION', 'expected option=value, got "20"'],
  ['token-bucket,5,10,wait=0.0000064h', 'RULE_OPTION', 'wait must be a time'],
  ['token-bucket,5,10,by=ip, by = ip', 'RULE_OPTION', 'option by is given twice'],
  ['token-bucket,5,10 & fixed-window,2,10', 'RULE_OPTION', 'expected option=value, got "2"'],
];

describe('a faulty rule', () => {
  it.each(wrong.map(([text, code, problem, meant]) => ({ text, code, problem, meant })))(
    'is refused with $code: $text',
    ({ text, code, problem, meant }) => {
      const [fault] = faultsOf(() => Rule.parse(text));
      expect(fault).toMatchObject({ code, place: 'a rule', given: text });
      expect(fault?.problem).toContain(problem);
      expect(fault?.meant).toBe(meant);
    },
  );

  it('tells all of its faults at once, each with place, given, problem and what was meant', () => {
    const given = 'fixd-window,0,-1,brust=3,mode=shadwo,by=ip,by=user,final';
    const place = 'a rule';
    expect(faultsOf(() => Rule.parse(given as string))).toEqual([
      {
        code: 'RULE_ALGORITHM',
        place,
        given,
        problem: expect.stringMatching(/^unknown algorithm "fixd-window"; use token-bucket, fixed/),
        meant: 'fixed-window',
      },
      {
        code: 'RULE_OPTION',
        place,
        given,
        problem: expect.stringMatching(/^unknown option "brust"; use burst, by, name/),
        meant: 'burst',
      },
      {
        code: 'RULE_OPTION',
        place,
        given,
        problem: 'mode must be enforce or shadow, got "shadwo"',
        meant: 'shadow',
      },
      { code: 'RULE_OPTION', place, given, problem: 'option by is given twice' },
      { code: 'RULE_OPTION', place, given, problem: 'expected option=value, got "final"' },
      {
        code: 'RULE_LIMIT',
        place,
        given,
        problem: 'limit must be a positive whole number, got 0',
      },
      {
        code: 'RULE_WINDOW',
        place,
        given,
        problem: expect.stringMatching(/^window must be a time .* got -1$/),
      },
    ]);
  });

  it('is told in words, alone in one line and several as a list', () => {
    expect(() => Rule.parse('fixd-window,2,10' as string)).toThrow(
      'Invalid "fixd-window,2,10" for a rule: unknown algorithm "fixd-window"; use token-bucket, ' +
        'fixed-window, sliding-window, sliding-window-counter (did you mean "fixed-window"?)',
    );
    expect(() => Rule.parse('token-bucket,0,0' as string)).toThrow(
      /^2 faults:\n- Invalid "token-bucket,0,0" for a rule: limit [^\n]*\n- Invalid [^\n]*window [^\n]*$/,
    );
  });

  it('carries the code of its first fault, and a name', () => {
    let thrown: unknown;
    try {
      Rule.parse('token-bucket,0,0' as string);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RateLimitConfigError);
    expect(thrown).toMatchObject({ code: 'RULE_LIMIT', name: 'RateLimitConfigError' });
  });

  it('is cut in the message when it is long, and whole in the fault', () => {
    const text = `token-bucket,0,10,name=${'a'.repeat(500)}`;
    const [fault] = faultsOf(() => Rule.parse(text));
    expect(fault?.given).toBe(text);
    expect(() => Rule.parse(text)).toThrow(/^Invalid "token-bucket,0,10,name=a{94}\.\.\." for/);
  });
});

describe('numbers that cannot be kept exactly', () => {
  const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));
  const EDGE = 1n << 53n;

  const isExact = {
    'token-bucket': (limit: number, millis: number, burst = limit) => {
      const divisor = gcd(BigInt(limit), BigInt(millis));
      return (2n * BigInt(burst) * BigInt(millis)) / divisor < EDGE;
    },
    'sliding-window-counter': (limit: number, millis: number) => {
      return BigInt(limit) * BigInt(millis) < EDGE;
    },
  };

  it.each([
    ['token-bucket,1,4503599627370.495', undefined],
    ['token-bucket,1,4503599627370.496', /^these numbers cannot be counted exactly; the nearest/],
    ['token-bucket,1,1ms,burst=4503599627370495', undefined],
    ['token-bucket,1,1ms,burst=4503599627370496', /that can: burst=4503599627370495$/],
    ['token-bucket,999983,365d', /that can: limit 999984$/],
    ['sliding-window-counter,285616,365d', undefined],
    ['sliding-window-counter,285617,365d', /that can: limit 285616$/],
    ['fixed-window,9007199254740991,365d', undefined],
    ['sliding-window,9007199254740991,365d', undefined],
  ])('are told: %s', (text: string, problem: RegExp | undefined) => {
    const said = faultsOf(() => Rule.parse(text));
    expect(said.map(({ code }) => code)).toEqual(problem ? ['RULE_INEXACT'] : []);
    if (problem) expect(said[0]?.problem).toMatch(problem);
  });

  const limit = fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 5_000_000 }));
  const millis = fc.oneof(
    fc.integer({ min: 1, max: 100_000 }),
    fc.integer({ min: 1, max: 365 * DAY }),
    fc.integer({ min: 1, max: 365 * 86_400 }).map((seconds) => seconds * S),
  );
  const burst = fc.oneof(
    fc.constant(undefined),
    fc.integer({ min: 1, max: 2 ** 53 - 1 }),
    fc.integer({ min: 1, max: 40 }).map((power) => 2 ** power),
  );

  it('are refused, and no others', () => {
    const seen = { exact: 0, inexact: 0 };
    holds(
      1500,
      fc.property(
        fc.constantFrom(...(['token-bucket', 'sliding-window-counter'] as const)),
        limit,
        millis,
        burst,
        (algorithm, limit, windowMillis, given) => {
          const burst = algorithm === 'token-bucket' ? given : undefined;
          const exact = isExact[algorithm](limit, windowMillis, burst);
          const said = faultsOf(() => Rule.of({ algorithm, limit, windowMillis, burst }));
          expect(said.map(({ code }) => code)).toEqual(exact ? [] : ['RULE_INEXACT']);
          seen[exact ? 'exact' : 'inexact']++;
        },
      ),
    );
    expect(Math.min(seen.exact, seen.inexact)).toBeGreaterThan(100);
  });

  it('come with the nearest that can, which is accepted, and nothing nearer is', () => {
    const named = { burst: 0, limit: 0 };
    holds(
      400,
      fc.property(
        fc.constantFrom(...(['token-bucket', 'sliding-window-counter'] as const)),
        limit,
        millis,
        burst,
        (algorithm, limit, windowMillis, given) => {
          const rule = {
            algorithm,
            limit,
            windowMillis,
            burst: algorithm === 'token-bucket' ? given : undefined,
          };
          const [fault] = faultsOf(() => Rule.of(rule));
          if (!fault) return;
          const [, field = '', number] = /: (limit|burst)[ =](\d+)$/.exec(fault.problem) ?? [];
          const near = Number(number);
          expect({ fault, near }).toEqual({ fault, near: expect.any(Number) });
          expect(faultsOf(() => Rule.of({ ...rule, [field]: near }))).toEqual([]);
          named[field as 'limit' | 'burst']++;
          const from = field === 'burst' ? (rule.burst ?? 0) : limit;
          const away = Math.abs(from - near);
          for (let nearer = Math.max(0, away - 50); nearer < away; nearer++) {
            for (const value of [from - nearer, from + nearer].filter((one) => one >= 1)) {
              if (!Number.isSafeInteger(value)) continue;
              const codes = faultsOf(() => Rule.of({ ...rule, [field]: value }));
              expect({ value, codes: codes.length }).toEqual({ value, codes: 1 });
            }
          }
        },
      ),
    );
    expect(Math.min(named.burst, named.limit)).toBeGreaterThan(10);
  });
});

describe('printing a rule', () => {
  it.each([
    ['token-bucket,5,10', 'token-bucket,5,10s'],
    ['sliding-window-log,5,60', 'sliding-window,5,1m'],
    ['fixed-window,005,3600', 'fixed-window,5,1h'],
    ['fixed-window,5,24h', 'fixed-window,5,1d'],
    ['fixed-window,5,36h', 'fixed-window,5,36h'],
    ['fixed-window,5,0.5', 'fixed-window,5,500ms'],
    ['fixed-window,5,90.5', 'fixed-window,5,90500ms'],
    ['token-bucket,5,10,burst=5', 'token-bucket,5,10s'],
    ['token-bucket,5,10,by=user+api,count=all,mode=enforce,final=false', 'token-bucket,5,10s'],
    ['token-bucket,5,10,by=api+user', 'token-bucket,5,10s,by=api+user'],
    [
      'token-bucket,5,10,final=true,wait=0.2,onStoreError=local,mode=shadow,count=failures,name=a,by=ip,burst=7',
      'token-bucket,5,10s,burst=7,by=ip,name=a,count=failures,mode=shadow,onStoreError=local,wait=200ms,final=true',
    ],
  ])('%s is %s', (text: string, printed) => {
    expect(String(Rule.parse(text))).toBe(printed);
  });

  it('reads back as an equal rule', () => {
    holds(
      2000,
      fc.property(validRuleText(), (text) => {
        for (const rule of Policy.parse(text).rules) {
          const again = Rule.parse(rule.toString());
          expect(again).toEqual(rule);
          expect(again.toString()).toBe(rule.toString());
        }
      }),
    );
  });

  it('reads back as an equal rule however long the window is', () => {
    holds(
      300,
      fc.property(fc.integer({ min: 1, max: 2 ** 53 - 1 }), (millis) => {
        const [seconds, rest] = [Math.floor(millis / S), String(millis % S).padStart(3, '0')];
        const rule = Rule.parse(`fixed-window,5,${seconds}.${rest}` as string);
        expect(rule.windowMillis).toBe(millis);
        expect(Rule.parse(rule.toString())).toEqual(rule);
      }),
    );
  });
});
