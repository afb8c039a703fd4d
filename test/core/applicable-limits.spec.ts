import { ApplicableLimits } from '../../src/core/applicable-limits.js';
import { Faults } from '../../src/core/fault.js';
import { Policy } from '../../src/core/policy.js';
import { RuleBook } from '../../src/core/rule-book.js';
import { readTierAnswer } from '../../src/core/tier-rules.js';

/** A rule that can be told from others by its limit. */
const rule = (limit: number, options = '') => `fixed-window,${limit},10${options}`;
const tier = (answer: unknown) => readTierAnswer(answer, new Faults());

const api = { method: undefined, name: '/login' };
const decorated = [{ policy: Policy.of(rule(9)), place: 'Module/Orders.list', label: 'list' }];
const limitsOf = (limits: ApplicableLimits, answer?: unknown, userId = 'u') =>
  limits.plansFor(userId, tier(answer)).map((plan) => plan.rule.limit);

describe('limits of an api whose users have tiers', () => {
  it('go by the tier, be it a name or rules, though the book tells nobody apart', () => {
    const book = RuleBook.of({ default: rule(1), always: rule(2, ',by=ip') });
    const limits = new ApplicableLimits(book, undefined, api, true);
    expect(limitsOf(limits)).toEqual([1, 2]);
    expect(limitsOf(limits, rule(3))).toEqual([3, 2]);
    expect(limitsOf(limits, { api: { '/login': rule(4) } })).toEqual([4, 2]);
    expect(limitsOf(limits, { api: { '/other': rule(4) } })).toEqual([1, 2]);
    expect(limitsOf(limits, 'gold')).toEqual([1, 2]);
    expect(limitsOf(limits)).toEqual([1, 2]);
  });

  it('may be there though the book has none', () => {
    const book = RuleBook.of({});
    expect(new ApplicableLimits(book, undefined, api).none).toBe(true);
    const limits = new ApplicableLimits(book, undefined, api, true);
    expect(limits.none).toBe(false);
    expect(limitsOf(limits)).toEqual([]);
    expect(limitsOf(limits, rule(3))).toEqual([3]);
  });

  it('leave the word to what decorates the handler, but for a final rule', () => {
    const book = RuleBook.of({});
    for (const [marks, usual] of [[decorated, [9]] as const, ['skip', []] as const]) {
      const limits = new ApplicableLimits(book, marks, api, true);
      expect(limitsOf(limits, rule(3))).toEqual(usual);
      expect(limitsOf(limits, rule(3, ',final=true'))).toEqual([3]);
    }
  });

  it('are worked out once for equal rules', () => {
    const limits = new ApplicableLimits(RuleBook.of({}), undefined, api, true);
    const plans = limits.plansFor('a', tier(rule(3)));
    expect(limits.plansFor('b', tier({ default: rule(3) }))).toBe(plans);
  });

  it('are right for any number of different rules', () => {
    const limits = new ApplicableLimits(RuleBook.of({}), undefined, api, true);
    for (let limit = 1; limit <= 10_001; limit++) {
      expect(limitsOf(limits, rule(limit))).toEqual([limit]);
    }
    expect(limitsOf(limits, rule(1))).toEqual([1]);
  });
});

describe('limits of an api that only entries of its name are meant for', () => {
  const book = RuleBook.of({
    default: rule(1, ',final=true'),
    always: rule(2, ',by=ip'),
    api: { '/login': rule(3), '/other': rule(4) },
    user: { ann: { default: rule(5) }, bob: { default: rule(6), api: { '/login': rule(7) } } },
    tier: { gold: { api: { '/login': rule(8, ',final=true') } }, iron: rule(9) },
  });

  it('pass over the defaults of users, of tiers and of everybody', () => {
    const limits = new ApplicableLimits(book, 'named', api, true);
    expect(limitsOf(limits)).toEqual([3, 2]);
    expect(limitsOf(limits, undefined, 'ann')).toEqual([3, 2]);
    expect(limitsOf(limits, 'iron')).toEqual([3, 2]);
    expect(limitsOf(limits, rule(10))).toEqual([3, 2]);
  });

  it('go by a user before a tier and a tier before all others, and by a final one first of all', () => {
    const limits = new ApplicableLimits(book, 'named', api, true);
    expect(limitsOf(limits, undefined, 'bob')).toEqual([7, 2]);
    expect(limitsOf(limits, 'gold')).toEqual([8, 2]);
    expect(limitsOf(limits, 'gold', 'bob')).toEqual([8, 2]);
    expect(limitsOf(limits, { api: { '/login': rule(10) } })).toEqual([10, 2]);
  });

  it('are none for whom no entry names the api, not even what always joins', () => {
    const limits = new ApplicableLimits(book, 'named', { method: undefined, name: '/else' }, true);
    expect([limitsOf(limits), limitsOf(limits, 'gold', 'bob')]).toEqual([[], []]);
  });
});
