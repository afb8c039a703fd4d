import fc from 'fast-check';
import { Policy, type PolicySource } from '../../src/core/policy.js';
import { Rule } from '../../src/core/rule.js';
import { holds } from '../laws/support.js';
import { validRuleText } from '../types/rule-text.arbitrary.js';
import { faultsOf } from './faults.js';

const A = 'token-bucket,5,10';
const B = 'fixed-window,2,10';
const C = 'sliding-window,3,10';
const [a, b, c] = [Rule.parse(A), Rule.parse(B), Rule.parse(C)];

describe('a policy', () => {
  it.each<[what: string, source: PolicySource, rules: Rule[]]>([
    ['one rule as text', A, [a]],
    ['rules joined by &', `${A} & ${B}&${C}`, [a, b, c]],
    ['white space around &', `\n${A}\t&\n ${B} `, [a, b]],
    ['an object', { limit: 5, window: 10 }, [a]],
    ['a rule', b, [b]],
    ['a list of text, objects and rules', [C, { limit: 5, window: 10 }, b], [c, a, b]],
    ['a list of texts that are joined', [`${A} & ${B}`, C], [a, b, c]],
    ['the same rule twice', [A, A], [a, a]],
  ])('is made of %s', (_what, source, rules) => {
    expect(Policy.of(source).rules).toEqual(rules);
  });

  it('is itself a source of a policy', () => {
    const policy = Policy.parse(A);
    expect(Policy.of(policy)).toBe(policy);
  });

  it('is final when one of its rules is', () => {
    expect(Policy.parse('token-bucket,5,10 & fixed-window,2,10').final).toBe(false);
    expect(Policy.parse('token-bucket,5,10 & fixed-window,2,10,final=true').final).toBe(true);
  });

  it('cannot be changed, nor through the list it was made of', () => {
    const rules = [a];
    const policy = new Policy(rules);
    rules.push(b);
    expect(policy.rules).toEqual([a]);
    expect(Object.isFrozen(policy) && Object.isFrozen(policy.rules)).toBe(true);
  });

  it('has at least one rule', () => {
    expect(() => new Policy([])).toThrow(RangeError);
    const problem = 'no rule is given';
    expect(faultsOf(() => Policy.of([]))).toEqual([
      { code: 'RULE_SYNTAX', place: 'a policy', given: '[]', problem },
    ]);
  });

  it('prints as text that reads back as an equal policy', () => {
    expect(String(Policy.parse(`${A}&${B}` as string))).toBe(
      'token-bucket,5,10s & fixed-window,2,10s',
    );
    holds(
      2000,
      fc.property(validRuleText(), (text) => {
        const policy = Policy.parse(text);
        const again = Policy.parse(policy.toString());
        expect(again).toEqual(policy);
        expect(again.toString()).toBe(policy.toString());
      }),
    );
  });
});

describe('a faulty policy', () => {
  it.each<[source: unknown, codes: string[]]>([
    ['', ['RULE_SYNTAX']],
    ['&', ['RULE_SYNTAX']],
    [`${A} &`, ['RULE_SYNTAX']],
    [`& ${A}`, ['RULE_SYNTAX']],
    [`${A} && ${B}`, ['RULE_SYNTAX']],
    [`${A} , ${B}`, ['RULE_OPTION', 'RULE_OPTION', 'RULE_OPTION']],
    [[''], ['RULE_SYNTAX']],
    [[A, null], ['RULE_SYNTAX']],
    [null, ['RULE_SYNTAX']],
    [undefined, ['RULE_SYNTAX']],
    [5, ['RULE_SYNTAX']],
    [() => A, ['RULE_SYNTAX']],
    [{}, ['RULE_SYNTAX', 'RULE_SYNTAX']],
  ])('%j is refused', (source, codes) => {
    const faults = faultsOf(() => Policy.of(source as PolicySource));
    expect(faults.map(({ code }) => code)).toEqual(codes);
  });

  it('tells the same fault of several rules once', () => {
    expect(faultsOf(() => Policy.of(['token-bucket,0,10', 'token-bucket,0,10']))).toHaveLength(1);
    expect(faultsOf(() => Policy.of(['token-bucket,0,10', 'token-bucket,0,11']))).toHaveLength(2);
  });

  it('tells the faults of all of its rules at once, each with the rule it is in', () => {
    const source = ['fixd-window,2,10 & token-bucket,0,10', A, { limit: 5, window: -1 }];
    const faults = faultsOf(() => Policy.of(source as PolicySource));
    expect(faults.map(({ code, given }) => [code, given])).toEqual([
      ['RULE_ALGORITHM', 'fixd-window,2,10'],
      ['RULE_LIMIT', 'token-bucket,0,10'],
      ['RULE_WINDOW', '{"limit":5,"window":-1}'],
    ]);
  });
});
