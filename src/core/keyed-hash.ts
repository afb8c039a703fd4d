/*
 * HalfSipHash-1-3 with 64 bits of output (J.-P. Aumasson, D. J. Bernstein: SipHash, its variant on
 * 32-bit words, with the round counts that hash tables use). Keyed: who does not know the key can
 * find no two texts that meet, and no texts that crowd one place of a table. 32-bit words since
 * JavaScript has no other fast integers.
 *
 * The message is two seed words, then each text as UTF-16 units, two a word, and its length: no
 * other list of texts makes the same words, and no text is ever joined or copied for it. Two
 * different lists meet by chance once in 2^63 pairs (a table uses one bit of the 64 itself).
 */
export class KeyedHash {
  /** The result of the last call, as signed 32-bit words. */
  lo = 0;
  hi = 0;

  /** @param k0 @param k1 the key, 32 bits each */
  constructor(
    private readonly k0: number,
    private readonly k1: number,
  ) {}

  /** Hashes a first text and those that follow from index 1 of `texts` on. */
  hash(seedLo: number, seedHi: number, first: string, texts: readonly string[] | undefined): void {
    const { k0, k1 } = this;
    let v0 = k0;
    let v1 = k1 ^ 0xee;
    let v2 = 0x6c796765 ^ k0;
    let v3 = 0x74656462 ^ k1;
    let text = first;
    let next = 1;
    let i = -4; // the two seed words come first
    let n = text.length;
    for (;;) {
      let m: number;
      if (i < 0) m = i === -4 ? seedLo : seedHi;
      else if (i + 1 < n) m = text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16);
      else m = i < n ? text.charCodeAt(i) : n;
      v3 ^= m;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= m;
      i += 2;
      if (i < n) continue;
      if (i - 2 < n) {
        i = n; // the length is the last word of a text
        continue;
      }
      if (texts === undefined || next >= texts.length) break;
      text = texts[next++]!;
      n = text.length;
      i = 0;
    }
    this.finish(v0, v1, v2, v3);
  }

  private finish(a: number, b: number, c: number, d: number): void {
    let v0 = a;
    let v1 = b;
    let v2 = c ^ 0xee;
    let v3 = d;
    for (let round = 1; round <= 6; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      if (round === 3) {
        this.lo = v1 ^ v3;
        v1 ^= 0xdd;
      }
    }
    this.hi = v1 ^ v3;
  }
}
