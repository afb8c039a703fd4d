import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { addressKey } from '../../src/http/address.js';

/** Spellings tried by the first property; `ADDRESS_RUNS=1000000` for a long run. */
const SPELLINGS = Number(process.env['ADDRESS_RUNS'] ?? 100_000);
/** An address is dear to draw and a spelling cheap, so each address is spelled this often. */
const PER_ADDRESS = 20;
const runs = { numRuns: Math.ceil(SPELLINGS / PER_ADDRESS) };

const hex = (group: number) => group.toString(16);

/** Dice rolled from one number (mulberry32), so that fast-check can replay and shrink a spelling. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

function quad(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Every way to leave out groups: none, or any part of any run of zeros. */
function gaps(groups: readonly number[], length: number): [number, number][] {
  const found: [number, number][] = [];
  for (let from = 0; from < length; from++) {
    for (let to = from; to < length && groups[to] === 0; to++) found.push([from, to + 1]);
  }
  return found;
}

/** The digits of the address in one of its spellings. */
function spell(groups: readonly number[], roll: (sides: number) => number): string {
  const withQuad = roll(3) === 0;
  const texts = groups.slice(0, withQuad ? 6 : 8).map((group) => {
    const digits = hex(group);
    return digits.padStart(digits.length + roll(5 - digits.length), '0');
  });
  const possible = gaps(groups, texts.length);
  if (withQuad) texts.push(quad(groups[6] ?? 0, groups[7] ?? 0));
  const gap = roll(4) === 0 ? undefined : possible[roll(Math.max(possible.length, 1))];
  const text =
    gap === undefined
      ? texts.join(':')
      : `${texts.slice(0, gap[0]).join(':')}::${texts.slice(gap[1]).join(':')}`;
  const upper = roll(3) === 0 ? 0 : roll(text.length * 2); // none, some, or all
  return text.slice(0, upper).toUpperCase() + text.slice(upper);
}

/** Brackets, port, zone and white space around the digits. */
function wrap(text: string, roll: (sides: number) => number): string {
  const zone = ['', '', '%eth0', '%12', '%25en0', '%eth0.100', '%br-lan:1'][roll(7)] ?? '';
  const port = [':0', ':80', ':00080', ':8080', ':65535'][roll(5)] ?? '';
  const forms = [text, text + zone, `[${text}]`, `[${text}${zone}]`, `[${text}${zone}]${port}`];
  if (text.includes('.')) forms.push(text + port);
  const [before = '', after = ''] = [['', ' ', '\t ', '\u00a0'][roll(4)], ['', '\r\n'][roll(2)]];
  return before + forms[roll(forms.length)] + after;
}

/** The key as others find it: bits cut as one big number, printed by the WHATWG URL serializer. */
function expectedKey(groups: readonly number[], prefix: number): string {
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  if (bits >> 32n === 0xffffn) return quad(groups[6] ?? 0, groups[7] ?? 0);
  const below = BigInt(128 - prefix);
  const digits = ((bits >> below) << below).toString(16).padStart(32, '0');
  const { hostname } = new URL(`http://[${digits.replace(/.{4}(?=.)/g, '$&:')}]`);
  return hostname.slice(1, -1) + (prefix < 128 ? `/${prefix}` : '');
}

function flip(groups: readonly number[], bit: number): number[] {
  return groups.map((group, i) => (i === bit >> 4 ? group ^ (0x8000 >> (bit & 15)) : group));
}

const uint16 = fc.integer({ min: 0, max: 0xffff });
const group = fc.oneof(fc.constantFrom(0, 0, 1, 0xffff), fc.integer({ max: 255, min: 0 }), uint16);
const eight = fc.array(group, { minLength: 8, maxLength: 8 });
const mapped = fc.tuple(uint16, uint16).map(([high, low]) => [0, 0, 0, 0, 0, 0xffff, high, low]);
const address = fc.oneof({ weight: 4, arbitrary: eight }, { weight: 1, arbitrary: mapped });
const ipv6 = eight.filter((groups) => !expectedKey(groups, 128).includes('.'));
const prefix = fc.oneof(fc.constantFrom(56, 64, 128), fc.integer({ min: 1, max: 128 }));
const seed = fc.integer();

describe('addressKey', () => {
  describe('reads every notation of an address', () => {
    test.each([
      ['0.0.0.0', '0.0.0.0'],
      ['1.2.3.4', '1.2.3.4'],
      ['255.255.255.255', '255.255.255.255'],
      ['  1.2.3.4\t', '1.2.3.4'],
      ['1.2.3.4:8080', '1.2.3.4'],
      ['1.2.3.4:0', '1.2.3.4'],
      ['[1.2.3.4]', '1.2.3.4'],
      ['[1.2.3.4]:65535', '1.2.3.4'],
      ['169.254.1.1%eth0', '169.254.1.1'],
      ['::ffff:1.2.3.4', '1.2.3.4'],
      ['::FFFF:1.2.3.4', '1.2.3.4'],
      ['::ffff:102:304', '1.2.3.4'],
      ['::ffff:0:0', '0.0.0.0'],
      ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
      ['0000:0000:0000:0000:0000:FfFf:0102:0304', '1.2.3.4'],
      ['::ffff:1.2.3.4:8080', '1.2.3.4'],
      ['[::ffff:1.2.3.4]:8080', '1.2.3.4'],
      ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
      ['::', '::/56'],
      ['::1', '::/56'],
      ['[::1]:8080', '::/56'],
      ['::1:8080', '::/56'],
      ['::1.2.3.4', '::/56'],
      ['fe80::1%eth0', 'fe80::/56'],
      ['fe80::1%eth0.100', 'fe80::/56'],
      ['[fe80::1%25eth0]:443', 'fe80::/56'],
      ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
      ['2001:0DB8:0001:02FF:0000:0000:0000:0001', '2001:db8:1:200::/56'],
      ['2001:db8:1:300::1', '2001:db8:1:300::/56'],
      ['2001:db8:1:200::/56', '2001:db8:1:200::/56'],
      ['2001:DB8:1:2ff::1/56', '2001:db8:1:200::/56'],
      ['64:ff9b::1.2.3.4', '64:ff9b::/56'],
      ['ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255', 'ffff:ffff:ffff:ff00::/56'],
    ])('%j is %s', (text, key) => {
      expect(addressKey(text)).toBe(key);
    });
  });

  describe('cuts IPv6 at the prefix and prints it as RFC 5952 does', () => {
    test.each([
      ['::1', 128, '::1'],
      ['::', 128, '::'],
      ['1::', 128, '1::'],
      ['2001:DB8::0:1', 128, '2001:db8::1'],
      ['2001:db8:0:1:1:1:1:1', 128, '2001:db8:0:1:1:1:1:1'], // a single zero stays
      ['1:0:0:2:0:0:0:3', 128, '1:0:0:2::3'], // the longest run
      ['1:0:0:2:3:0:0:4', 128, '1::2:3:0:0:4'], // the first of equal runs
      ['0:0:1:0:0:0:1:0', 128, '0:0:1::1:0'],
      ['1:2:3:4:5:6:7::', 128, '1:2:3:4:5:6:7:0'],
      ['::2:3:4:5:6:7:8', 128, '0:2:3:4:5:6:7:8'],
      ['::1.2.3.4', 128, '::102:304'],
      ['::fffe:1.2.3.4', 128, '::fffe:102:304'],
      ['::1:ffff:1.2.3.4', 128, '::1:ffff:102:304'],
      ['1::ffff:1.2.3.4', 128, '1::ffff:102:304'],
      ['::ffff:1.2.3.4', 128, '1.2.3.4'],
      ['::ffff:1.2.3.4', 96, '1.2.3.4'],
      ['::ffff:1.2.3.4', 1, '1.2.3.4'],
      ['::ffff:0:1.2.3.4', 128, '::ffff:0:102:304'],
      ['ffff::', 1, '8000::/1'],
      ['7fff::', 1, '::/1'],
      ['1:2:3:4:5:6:7:ffff', 127, '1:2:3:4:5:6:7:fffe/127'],
      ['1:2:3:4:5:6:7:8', 64, '1:2:3:4::/64'],
      ['1:2:3:4:5:6:7:8', 48, '1:2:3::/48'],
      ['1:2:3::/48', 48, '1:2:3::/48'],
    ])('%j at /%i is %s', (text, ipv6Prefix, key) => {
      expect(addressKey(text, ipv6Prefix)).toBe(key);
    });
  });

  describe('hands back, trimmed, what is no address', () => {
    const long = 'a'.repeat(10_000);
    test.each<[string, string[]]>([
      ['words', ['unknown', 'localhost', '_hidden', 'example.com:80', '__proto__', 'constructor']],
      ['nothing', ['', ' ', '\t\r\n']],
      ['broken Unicode', ['\ud800', '\udc00::1', '1.2.3.4\ud83d', '\0', '1.2.3.4\0']],
      ['foreign digits and dots', ['١.٢.٣.٤', '1。2。3。4', '１.2.3.4', '::１']],
      ['quads that look octal or hexadecimal', ['01.2.3.4', '1.2.3.04', '00.0.0.0', '0x1.2.3.4']],
      [
        'quads of too few or too many',
        ['1.2.3', '1.2.3.4.5', '1..2.3', '.1.2.3', '1.2.3.', '16909060'],
      ],
      ['octets out of range', ['1.2.3.256', '1.2.3.4444', '-1.2.3.4', '+1.2.3.4', '1e0.2.3.4']],
      ['IPv4 ports that are none', ['1.2.3.4:', '1.2.3.4:65536', '1.2.3.4:000080', '1.2.3.4:8a']],
      ['text before IPv4', ['x1.2.3.4:80', ' - 1.2.3.4:80', 'a, 1.2.3.4:80', '/1.2.3.4']],
      ['two ports', ['1.2.3.4:80:80', '[1.2.3.4:80]', '[::1]:80:80', '1.2.3.4:80%eth0']],
      ['lists', ['1.2.3.4, 5.6.7.8', '::1,::2', '1.2.3 .4', 'fe80::1%a,::2']],
      ['IPv4 networks', ['1.2.3.4/56', '1.2.3.4/32', '::ffff:1.2.3.4/56', '1.2.3.4:80/56']],
      ['other IPv6 networks', ['::1/64', '::1/056', '::1/', '/56', '::/56/56', '[::1]/56']],
      ['colons astray', [':', ':::', '::::', ':1::', '1::2:', ':1:2:3:4:5:6:7', '1:2:3:4:5:6:7:']],
      ['two gaps', ['1:::2', '1::2::3', '::1::', '::1.2.3.4::']],
      ['too few groups', ['1', '1:2:3:4:5:6:7', '1:2:3:4:5:1.2.3.4']],
      ['too many groups', ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:1.2.3.4', '1:2:3:4:5:6:7:8::']],
      ['a gap for no group', ['1:2:3:4::5:6:7:8', '::1:2:3:4:5:6:7:8', '::1:2:3:4:5:6:1.2.3.4']],
      ['groups too long', ['12345::', '::00001', '1:2:3:4:5:6:7:00008']],
      ['groups of other characters', ['::g', '::G', '::@', '::`', '::/', '::-1', '::0x1', ': :1']],
      [
        'bad quads in IPv6',
        ['::1.2.3', '::01.2.3.4', '::1.2.3.256', '::ffff:1.2.3.4.5', ':1.2.3.4'],
      ],
      ['quads not last in IPv6', ['1.2.3.4::', '::1.2.3.4:5:6', '::1.2.3.4:a']],
      ['bad zones', ['fe80::1%', '%eth0', 'fe80::1%a b', 'fe80::1%é', '[::1%]', '1.2.3.4%']],
      ['bad brackets', ['[::1', '::1]', '[]', '[]:80', '[[::1]]', '[::1]80', '[::1 ]', 'a[::1]']],
      ['IPv6 ports that are none', ['[::1]:', '[::1]:65536', '[::1]:000080', '[::1]:x']],
      ['other syntax', ['http://[::1]/', 'for="[::1]"', '::1;', '"1.2.3.4"']],
      [
        'long text',
        [long, `1.2.3.4:${'0'.repeat(10_000)}`, `::${'0'.repeat(10_000)}1`, `::1%${long}`],
      ],
      ['long repetition', [':', '1.', '0:', '[', '%', '::ffff:'].map((part) => part.repeat(5_000))],
    ])('%s', (_kind, texts) => {
      for (const text of texts) {
        expect(addressKey(text)).toBe(text.trim());
        expect(addressKey(` ${text}\n`, 1)).toBe(text.trim());
      }
    });
  });

  it('gives all spellings of an address the one key of its bits', () => {
    const law = fc.property(address, prefix, seed, (groups, ipv6Prefix, die) => {
      const key = expectedKey(groups, ipv6Prefix);
      const roll = dice(die);
      for (let i = 0; i < PER_ADDRESS; i++) {
        const text = wrap(spell(groups, roll), roll);
        const got = addressKey(text, ipv6Prefix);
        if (got !== key) throw new Error(`${JSON.stringify(text)} is ${got}, not ${key}`);
      }
    });
    fc.assert(law, runs);
  });

  it('tells addresses apart by the bits of the prefix, and by no other', () => {
    const bit = fc.integer({ min: 0, max: 127 });
    const law = fc.property(ipv6, bit, prefix, seed, (groups, flipped, ipv6Prefix, die) => {
      const other = flip(groups, flipped);
      fc.pre(!expectedKey(other, 128).includes('.'));
      const key = addressKey(spell(groups, dice(die)), ipv6Prefix);
      const otherKey = addressKey(spell(other, dice(~die)), ipv6Prefix);
      expect(key === otherKey).toBe(flipped >= ipv6Prefix);
    });
    fc.assert(law, runs);
  });

  it('never puts two IPv4 addresses, nor IPv4 and IPv6, under one key', () => {
    const last = fc.integer({ min: 0, max: 31 });
    const law = fc.property(mapped, last, eight, prefix, seed, (groups, bit, six, cut, die) => {
      const plain = quad(groups[6] ?? 0, groups[7] ?? 0);
      const roll = dice(die);
      const [same, other] = [spell(groups, roll), spell(flip(groups, 96 + bit), roll)];
      expect(addressKey(plain, cut)).toBe(plain);
      expect(addressKey(same, cut)).toBe(plain);
      expect(addressKey(other, cut)).not.toBe(plain);
      fc.pre(six[5] !== 0xffff);
      expect(isIPv4(addressKey(spell(six, roll), cut))).toBe(false);
    });
    fc.assert(law, runs);
  });

  it('agrees with Node on what is an address, for text one edit away from one', () => {
    const edit = fc.tuple(fc.nat(50), fc.nat(2), fc.constantFrom(...'0123456789aF:.', '::', '00'));
    const law = fc.property(address, seed, edit, (groups, die, [at, drop, added]) => {
      const roll = dice(die);
      const whole = roll(4) === 0 ? quad(groups[6] ?? 0, groups[7] ?? 0) : spell(groups, roll);
      const cut = at % (whole.length + 1);
      const text = whole.slice(0, cut) + added + whole.slice(cut + drop);
      // A quad before the last colon is a port to us and an error to Node.
      fc.pre(!/\.\d+:\d+$/.test(text));
      const key = addressKey(text);
      if (isIPv6(text)) expect(key.endsWith('/56') || isIPv4(key)).toBe(true);
      else expect(key).toBe(text);
    });
    fc.assert(law, runs);
  });

  it('is a fixed point on its keys, so text that is no address cannot equal one', () => {
    const law = fc.property(address, prefix, (groups, ipv6Prefix) => {
      const key = expectedKey(groups, ipv6Prefix);
      const garbage = [`${key}x`, `x${key}`, `${key}/`, `${key},`, `:::${key}`, `[${key}`];
      const texts = [key, ...garbage];
      expect(texts.map((text) => addressKey(text, ipv6Prefix))).toEqual(texts);
    });
    fc.assert(law, runs);
  });

  it('never throws, and changes nothing but white space in text that is no address', () => {
    const soup = fc.string({
      unit: fc.constantFrom(...'0123456789abcdefABCDEF:::...[]%/ -xg,\t\u00a0\ud800\udc00\0'),
      maxLength: 60,
    });
    const text = fc.oneof(soup, fc.string({ unit: 'binary' }), fc.webUrl(), fc.domain());
    const law = fc.property(text, prefix, (given, ipv6Prefix) => {
      const key = addressKey(given, ipv6Prefix);
      if (key !== given.trim()) expect(key).toMatch(/^[\d.]+$|^[\da-f:]+(\/\d+)?$/);
      expect(addressKey(key, ipv6Prefix)).toBe(key);
    });
    fc.assert(law, runs);
  });

  it('takes no longer than linear on hostile text', () => {
    const shapes = ['0:', '1.', '%', '[', ' ', ':', '1.2.3.4:', '::ffff:', ' a'];
    const started = performance.now();
    for (const shape of shapes) addressKey(`${shape.repeat(100_000)}!`);
    // Quadratic takes 10^10 steps; the bound is loose so that a busy machine passes.
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
