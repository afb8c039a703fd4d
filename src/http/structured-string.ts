const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * A string of RFC 9651: visible ASCII in double quotes. Names may hold anything (an id, a route in
 * any script), and a header with other characters would be refused by Node: those are
 * percent-encoded as UTF-8, lone surrogates as U+FFFD.
 */
export function structuredString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  const ascii = text.replace(/[^\x20-\x7e]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), percent).join(''),
  );
  return `"${ascii.replace(/["\\]/g, '\\$&')}"`;
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}
