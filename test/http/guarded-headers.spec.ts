import { guarded, type HeaderDialect } from '../../src/http/headers/index.js';
import { decision } from './decisions.js';

/** What a function of an application makes of a decision, and what is said of it. */
function tell(dialect: unknown): { headers: unknown; said: string[] } {
  const said: string[] = [];
  const headers = guarded(dialect as HeaderDialect, (did) => said.push(did))(decision());
  return { headers, said };
}

const RIGHT = { 'X-Left': '4' };

describe('a dialect of the application', () => {
  it('is told as it is, where it is right', () => {
    const dialect: HeaderDialect = ({ remaining, policy }) => ({
      'X-Left': String(remaining),
      'X-Policy': `policy: "${policy}"\t~`,
      'X-Empty': '',
    });
    expect(tell(dialect)).toEqual({
      headers: { 'X-Left': '4', 'X-Policy': 'policy: "default"\t~', 'X-Empty': '' },
      said: [],
    });
    expect(tell(() => ({}))).toEqual({ headers: {}, said: [] });
  });

  it.each([
    ['a number', 4, 'gave X the value 4, which is no text of visible ASCII'],
    ['NaN', Number.NaN, /^gave X the value NaN/],
    ['a list', ['a', 'b'], /^gave X the value \["a","b"\]/],
    ['nothing', undefined, /^gave X the value undefined/],
    ['null', null, /^gave X the value null/],
    ['another script', 'жук', /^gave X the value \?\?\?/],
    ['Latin letters beyond ASCII', 'é', /^gave X the value \?/],
    ['a new line', 'a\r\nSet-Cookie: b', /^gave X the value a\?\?Set-Cookie: b/],
    ['a zero byte', '\0', /^gave X the value \?/],
    ['a bigint', 5n, /^gave X the value \[object BigInt\]/],
    ['a symbol', Symbol('s'), /^gave X the value Symbol\(s\)/],
    [
      'what cannot be shown',
      Object.defineProperty({ toJSON: fail }, Symbol.toStringTag, { get: fail }),
      /^gave X the value an object that cannot be read/,
    ],
  ])('is told but for a value that is %s', (_, value, said) => {
    const { headers, said: all } = tell(() => ({ X: value, ...RIGHT }));
    expect(headers).toEqual(RIGHT);
    expect(all).toHaveLength(1);
    expect(all[0]).toMatch(said);
  });

  it.each([
    ['', /^named a header , which is no name/],
    ['X Y', /^named a header X Y, which/],
    ['X:', /^named a header X:/],
    ['X\r\nY', /^named a header X\?\?Y/],
    ['é', /^named a header \?/],
    ['Content-Length', /^wrote Content-Length, which is up to the server/],
    ['trailer', /^wrote trailer/],
    ['TRANSFER-ENCODING', /^wrote TRANSFER-ENCODING/],
    ['Connection', /^wrote Connection/],
  ])('is told but for the name %j', (name, said) => {
    const { headers, said: all } = tell(() => ({ [name]: '1', ...RIGHT }));
    expect(headers).toEqual(RIGHT);
    expect(all).toEqual([expect.stringMatching(said)]);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a text', 'X-Left: 4'],
    ['a list', [['X-Left', '4']]],
    ['a function', () => RIGHT],
  ])('tells nothing where it answers %s', (_, answer) => {
    const { headers, said } = tell(() => answer);
    expect(headers).toEqual({});
    expect(said).toEqual([expect.stringMatching(/^answered .* no object of names and values$/)]);
  });

  it.each([
    ['an error', new Error('no\nlines'), 'threw Error: no?lines'],
    ['a text', 'no', 'threw no'],
    ['nothing', undefined, 'threw undefined'],
  ])('tells nothing where it throws %s', (_, thrown, said) => {
    const dialect = () => {
      throw thrown;
    };
    expect(tell(dialect)).toEqual({ headers: {}, said: [said] });
  });

  it('tells nothing where a value throws when it is read', () => {
    const answer = {
      get X() {
        return fail();
      },
    };
    expect(tell(() => answer)).toEqual({ headers: {}, said: ['threw Error: unreadable'] });
  });

  it('tells nothing where it answers a promise, kept or not', async () => {
    const said = ['answered a promise; headers are told at once'];
    expect(tell(async () => RIGHT)).toEqual({ headers: {}, said });
    expect(tell(async () => fail())).toEqual({ headers: {}, said });
    await new Promise((resolve) => setImmediate(resolve));
  });
});

function fail(): never {
  throw new Error('unreadable');
}
