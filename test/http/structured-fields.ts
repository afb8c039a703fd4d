/** An item of a structured field: a string or an integer, and its parameters. */
export interface Item {
  readonly value: string | number;
  readonly parameters: Readonly<Record<string, number>>;
}

/**
 * Reads a list of items as RFC 9651, 4.2 does, as far as rate limit headers use it: strings and
 * integers, integers as parameters, no inner lists.
 *
 * @throws SyntaxError for anything else
 */
export function parseList(text: string): Item[] {
  const reader = new Reader(text);
  const items: Item[] = [];
  reader.skip(/ */y);
  while (!reader.done) {
    items.push(readItem(reader));
    reader.skip(/[ \t]*/y);
    if (reader.done) return items;
    reader.take(/,/y, 'a comma');
    reader.skip(/[ \t]*/y);
    if (reader.done) throw new SyntaxError('a list does not end with a comma');
  }
  return items;
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** What the sticky pattern finds here, or undefined. */
  skip(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  take(pattern: RegExp, what: string): string {
    const found = this.skip(pattern);
    if (found) return found;
    throw new SyntaxError(`${what} expected at ${this.at} of ${JSON.stringify(this.text)}`);
  }
}

function readItem(reader: Reader): Item {
  const value = readBare(reader);
  const parameters: Record<string, number> = {};
  while (reader.skip(/; */y)) {
    const key = reader.take(/[a-z*][a-z0-9_.*-]*/y, 'a key');
    reader.take(/=/y, '=');
    if (key in parameters) throw new SyntaxError(`${key} stands twice`);
    parameters[key] = readInteger(reader);
  }
  return { value, parameters };
}

function readBare(reader: Reader): string | number {
  const text = reader.skip(/"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y);
  return text === undefined ? readInteger(reader) : text.slice(1, -1).replace(/\\(.)/g, '$1');
}

/** At most 15 digits: larger integers are not interoperable, and the whole field is void. */
function readInteger(reader: Reader): number {
  const digits = reader.take(/-?\d+/y, 'an integer');
  if (digits.replace('-', '').length > 15) throw new SyntaxError(`${digits} has over 15 digits`);
  return Number(digits);
}
