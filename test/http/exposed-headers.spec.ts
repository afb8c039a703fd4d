import { exposedHeaders } from '../../src/http/exposed-headers.js';

describe('the headers that pages of other origins read', () => {
  it.each([
    ['nothing', undefined, 'RateLimit, Retry-After'],
    ['an empty value', '', 'RateLimit, Retry-After'],
    ['another', 'X-Total', 'X-Total, RateLimit, Retry-After'],
    ['one of them', 'X-Total,retry-after', 'X-Total,retry-after, RateLimit'],
    ['all of them', 'RETRY-AFTER ,ratelimit', 'RETRY-AFTER ,ratelimit'],
    ['several values', ['X-Total', 'RateLimit'], 'X-Total, RateLimit, Retry-After'],
    ['no value', [], 'RateLimit, Retry-After'],
    ['the star, which is but a name with credentials', '*', '*, RateLimit, Retry-After'],
    ['a longer name', 'X-RateLimit', 'X-RateLimit, RateLimit, Retry-After'],
  ])('join what is there: %s', (_, present, value) => {
    expect(exposedHeaders(present, ['RateLimit', 'Retry-After'])).toBe(value);
  });

  it('stand once each, and may be none', () => {
    expect(exposedHeaders(undefined, ['A', 'a', 'B'])).toBe('A, B');
    expect(exposedHeaders('A', [])).toBe('A');
  });
});
