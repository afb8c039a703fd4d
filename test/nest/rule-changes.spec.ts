import { RuleBook } from '../../src/core/index.js';
import { changesBetween } from '../../src/nest/rule-changes.js';
import type { RulesInForce } from '../../src/nest/rules-in-force.js';

/** The changes from one book to another, a line each: place, before, after; `!` where it restarts. */
function changes(before: string, after: string, modes: readonly string[] = []): string[] {
  const [was = 'enforce', is = 'enforce'] = modes;
  const inForce = (text: string, mode: string) =>
    ({ book: RuleBook.parse(text), mode }) as unknown as RulesInForce;
  return changesBetween(inForce(before, was), inForce(after, is)).map(
    (change) =>
      `${change.place}: ${change.before ?? '–'} → ${change.after ?? '–'}${change.restarts ? ' !' : ''}`,
  );
}

describe('what a reload changed', () => {
  it.each<[string, string, string, string[]]>([
    ['nothing', 'default = fixed-window,5,10', 'default = fixed-window, 5, 10s # the same', []],
    [
      'an entry that came, and one that went',
      'api./a = fixed-window,5,10',
      'user.bob = fixed-window,6,10',
      ['api:/a: fixed-window,5,10s → –', 'user:bob: – → fixed-window,6,10s'],
    ],
    [
      'a limit, a burst, a mode, an outcome, a wait, what to do without the store, the last word',
      'default = token-bucket,5,10',
      'default = token-bucket,6,10,burst=9,mode=shadow,count=failures,wait=1s,onStoreError=deny,final=true',
      [
        'default: token-bucket,5,10s → token-bucket,6,10s,burst=9,count=failures,mode=shadow,onStoreError=deny,wait=1s,final=true',
      ],
    ],
    [
      'a window',
      'default = fixed-window,5,10',
      'default = fixed-window,5,11',
      ['default: fixed-window,5,10s → fixed-window,5,11s !'],
    ],
    [
      'an algorithm',
      'default = fixed-window,5,10',
      'default = token-bucket,5,10',
      ['default: fixed-window,5,10s → token-bucket,5,10s !'],
    ],
    [
      'what is counted by',
      'default = fixed-window,5,10,by=user',
      'default = fixed-window,5,10,by=user+ip',
      ['default: fixed-window,5,10s,by=user → fixed-window,5,10s,by=user+ip !'],
    ],
    [
      'one rule of two',
      'default = fixed-window,5,10 & fixed-window,9,60',
      'default = fixed-window,6,10 & fixed-window,9,61',
      [
        'default: fixed-window,5,10s & fixed-window,9,1m → fixed-window,6,10s & fixed-window,9,61s !',
      ],
    ],
    [
      'one rule more: it begins, and nothing begins anew',
      'default = fixed-window,5,10',
      'default = fixed-window,5,10 & fixed-window,9,60',
      ['default: fixed-window,5,10s → fixed-window,5,10s & fixed-window,9,1m'],
    ],
    [
      'one rule less: what is left goes on',
      'default = fixed-window,5,10 & fixed-window,9,60',
      'default = fixed-window,5,10',
      ['default: fixed-window,5,10s & fixed-window,9,1m → fixed-window,5,10s'],
    ],
    [
      'the order of rules, each with its counter',
      'default = fixed-window,5,10 & fixed-window,9,60',
      'default = fixed-window,9,60 & fixed-window,5,10',
      ['default: fixed-window,5,10s & fixed-window,9,1m → fixed-window,9,1m & fixed-window,5,10s'],
    ],
    [
      'a policy, and what names it',
      'policy.p = fixed-window,5,10\napi./a = p',
      'policy.p = fixed-window,6,10\napi./a = p',
      [
        'policy:p: fixed-window,5,10s → fixed-window,6,10s',
        'api:/a: fixed-window,5,10s → fixed-window,6,10s',
      ],
    ],
    [
      'an entry that names a policy of the same rule, which counts elsewhere',
      'policy.p = fixed-window,5,10\napi./a = fixed-window,5,10',
      'policy.p = fixed-window,5,10\napi./a = p',
      ['api:/a: fixed-window,5,10s → fixed-window,5,10s !'],
    ],
    [
      'the same, where the rule has a name and so one counter',
      'policy.p = fixed-window,5,10,name=n\napi./a = fixed-window,5,10,name=n',
      'policy.p = fixed-window,5,10,name=n\napi./a = p',
      ['api:/a: fixed-window,5,10s,name=n → fixed-window,5,10s,name=n'],
    ],
    [
      'entries of small books and those that always join',
      'user.bob.api./a = fixed-window,5,10\ntier.pro = fixed-window,5,10\nalways.x = fixed-window,5,10',
      'user.bob.api./a = fixed-window,6,10\ntier.pro = fixed-window,6,10\nalways.x = fixed-window,6,10',
      [
        'user:bob.api./a: fixed-window,5,10s → fixed-window,6,10s',
        'tier:pro: fixed-window,5,10s → fixed-window,6,10s',
        'always:x: fixed-window,5,10s → fixed-window,6,10s',
      ],
    ],
  ])('is %s', (_, before, after, told) => {
    expect(changes(before, after)).toEqual(told);
  });

  it('is the mode, last', () => {
    expect(changes('default = fixed-window,5,10', '', ['shadow', 'enforce'])).toEqual([
      'default: fixed-window,5,10s → –',
      'mode: shadow → enforce',
    ]);
  });
});
