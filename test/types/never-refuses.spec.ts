import fc from 'fast-check';
import { Policy } from '../../src/core/policy.js';
import { compile } from './compile.js';
import { validRuleText } from './rule-text.arbitrary.js';

const texts = fc.sample(validRuleText(), { numRuns: 300, seed: 1 });

function refusal(text: string): string | undefined {
  try {
    Policy.parse(text);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

it('never refuses a text that the parser accepts', () => {
  const said = compile([
    texts.map((text) => `RateLimit(${JSON.stringify(text)});`).join('\n'),
    texts.map((text) => `Policy.parse(${JSON.stringify(text)});`).join('\n'),
    `RateLimitModule.forRoot({ rules: { api: {
      ${texts.map((text, i) => `'/${i}': ${JSON.stringify(text)},`).join('\n')}
    } } });`,
  ]);
  expect(said).toEqual(['', '', '']);
});

it('tries texts that the parser accepts indeed', () => {
  expect(texts.map(refusal).filter((said) => said !== undefined)).toEqual([]);
});

it.each([
  {
    what: 'every algorithm',
    patterns: [/token-b/, /fixed-w/, /window\s*,/, /window-log/, /window-counter/],
  },
  { what: 'every unit', patterns: [/\dms/, /\ds/, /\dm\b/, /\dh/, /\dd/] },
  { what: 'decimals', patterns: [/\d\.\d/] },
  {
    what: 'every option',
    patterns: [/burst/, /by/, /name/, /count\b/, /mode/, /onStoreError/, /wait/, /final/],
  },
  { what: 'white space around =', patterns: [/\s=/, /=\s/] },
  { what: 'joined rules', patterns: [/&/] },
])('tries $what', ({ patterns }) => {
  for (const pattern of patterns) {
    expect(texts.filter((text) => pattern.test(text)).length).toBeGreaterThan(10);
  }
});
