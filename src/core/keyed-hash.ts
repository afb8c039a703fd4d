/*
 * HalfSipHash-1-3 with 64 bits of output (J.-P. Aumasson, D. J. Bernstein: SipHash, its variant on
 * 32-bit words, with the round counts that hash tables use). Keyed: who does not know the key can
 * find no two texts that meet, and no texts that crowd one place of a table. 32-bit words since
 * JavaScript has no other fast integers.
 *
 * The message is, for each text, its UTF-16 units, four a word where all of them are below 256 and
 * else two, and after them its length and which of both it was: read from the end, no other list of
 * texts makes the same words. No text is ever joined or copied for it. A seed of 64 bits (what the texts are
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

  /** Four units a word, as long as they are narrow: most texts are, to the end. */
  private text(text: string): void {
    const n = text.length;
    let { v0, v1, v2, v3 } = this;
    for (let i = 0; ; i += 4) {
      let m = n << 1; // after the last unit
      let wide = 0;
      if (i + 3 < n) {
        const a = text.charCodeAt(i);
        const b = text.charCodeAt(i + 1);
        const c = text.charCodeAt(i + 2);
        const d = text.charCodeAt(i + 3);
        wide = a | b | c | d;
        m = a | (b << 8) | (c << 16) | (d << 24);
      } else if (i < n) {
        const a = text.charCodeAt(i);
        const b = i + 1 < n ? text.charCodeAt(i + 1) : 0;
        const c = i + 2 < n ? text.charCodeAt(i + 2) : 0;
        wide = a | b | c;
        m = a | (b << 8) | (c << 16);
      }
      if (wide > 0xff) {
        this.wideText(text);
        return;
      }
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

  /** From the state before the text, two units a word. */
  private wideText(text: string): void {
    const n = text.length;
    for (let i = 0; i < n; i += 2) {
      this.word(text.charCodeAt(i) | (i + 1 < n ? text.charCodeAt(i + 1) << 16 : 0));
    }
    this.word((n << 1) | 1);
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
