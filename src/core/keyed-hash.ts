/*
 * HalfSipHash-1-3 with 64 bits of output (J.-P. Aumasson, D. J. Bernstein: SipHash, its variant on
 * 32-bit words, with the round counts that hash tables use). Keyed: who does not know the key can
 * find no two texts that meet, and no texts that crowd one place of a table. 32-bit words since
 * JavaScript has no other fast integers.
 *
 * The message is each text as UTF-16 units, two a word, and its length: no other list of texts makes
 * the same words, and no text is ever joined or copied for it. A seed of 64 bits (what the texts are
 * values of) joins half of the key. Two different lists meet by chance once in 2^63 pairs (a table
 * uses one bit of the 64 itself).
 */
export class KeyedHash {
  /** The result of the last call, as signed 32-bit words. */
  lo = 0;
  hi = 0;
  private v0 = 0;
  private v1 = 0;
  private v2 = 0;
  private v3 = 0;

  /** @param k0 @param k1 the key, 32 bits each */
  constructor(
    private readonly k0: number,
    private readonly k1: number,
  ) {}

  /** Hashes one text. */
  one(seedLo: number, seedHi: number, text: string): void {
    this.start(seedLo, seedHi);
    this.text(text);
    this.finish();
  }

  /** Hashes a list of texts; one of a single text is as `one`. */
  many(seedLo: number, seedHi: number, texts: readonly string[]): void {
    this.start(seedLo, seedHi);
    for (let i = 0; i < texts.length; i++) this.text(texts[i]!);
    this.finish();
  }

  /** The seed goes into the state like a key, which costs no round. */
  private start(seedLo: number, seedHi: number): void {
    const { k0, k1 } = this;
    this.v0 = k0 ^ seedLo;
    this.v1 = k1 ^ 0xee ^ seedHi;
    this.v2 = 0x6c796765 ^ k0;
    this.v3 = 0x74656462 ^ k1;
  }

  /** Two units a word; the last holds an odd unit and the length. */
  private text(text: string): void {
    const n = text.length;
    if (n >= 0xffff) this.word(n); // for which the last word has no room
    let { v0, v1, v2, v3 } = this;
    for (let i = 1; ; i += 2) {
      const m =
        i < n
          ? text.charCodeAt(i - 1) | (text.charCodeAt(i) << 16)
          : (Math.min(n, 0xffff) << 16) | (i === n ? text.charCodeAt(i - 1) : 0);
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
      if (i >= n) break;
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }

  private word(m: number): void {
    this.v3 ^= m;
    this.rounds(1);
    this.v0 ^= m;
  }

  /** The round of `text` once more: there it stands in the loop, on locals, as most words are its. */
  private rounds(count: number): void {
    let { v0, v1, v2, v3 } = this;
    for (let i = 0; i < count; i++) {
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
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }

  private finish(): void {
    this.v2 ^= 0xee;
    this.rounds(3);
    this.lo = this.v1 ^ this.v3;
    this.v1 ^= 0xdd;
    this.rounds(3);
    this.hi = this.v1 ^ this.v3;
  }
}
