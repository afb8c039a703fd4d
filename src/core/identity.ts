import type { Dimension } from './dimension.js';

/** Who asks for what, as far as it is known. */
export interface Asker {
  /** The id of the authenticated principal. */
  readonly userId: string | undefined;
  /** The client's address, canonical. */
  readonly address: string | undefined;
  /** What is asked for, without a method. */
  readonly api: string;
  /** Values of further dimensions. */
  readonly dimensions?: Readonly<Record<string, string>> | undefined;
}

/**
 * Text that no other list of parts has: each part stands behind its length, so (`a|b`, `c`) and
 * (`a`, `b|c`) never meet, whatever characters they hold.
 */
export function encodeParts(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return text;
}

/**
 * What a dimension counts by for this asker. A missing value falls back to the client's address,
 * never to one common literal. Told apart: an address begins with `@`, and an id that begins so,
 * or with the escape itself, gets a `=` before it.
 *
 * @returns undefined when there is neither a value nor an address
 */
export function dimensionValue(dimension: Dimension, asker: Asker): string | undefined {
  if (dimension === 'api') return asker.api;
  if (dimension === 'global') return '';
  const value = dimension === 'user' ? asker.userId : ownValue(asker.dimensions, dimension);
  if (value !== undefined && dimension !== 'ip') return escaped(value);
  return asker.address === undefined ? undefined : `@${asker.address}`;
}

/** Not what every object inherits, such as `constructor`. */
function ownValue(values: Asker['dimensions'], name: string): string | undefined {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

function escaped(value: string): string {
  const first = value.charCodeAt(0);
  return first === 64 /* @ */ || first === 61 /* = */ ? `=${value}` : value;
}
