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
  const value = ownValueOf(dimension, asker);
  if (value !== undefined) return escaped(value);
  return asker.address === undefined ? undefined : `@${asker.address}`;
}

/** Whether a dimension has a value of its own, or is the address itself. */
export function isKnown(dimension: Dimension, asker: Asker): boolean {
  return ['api', 'global', 'ip'].includes(dimension) || ownValueOf(dimension, asker) !== undefined;
}

/** An address is no value of its own: it is what stands in for one. */
function ownValueOf(dimension: Dimension, { userId, dimensions }: Asker): string | undefined {
  if (dimension === 'ip') return undefined;
  return dimension === 'user' ? userId : ownValue(dimensions, dimension);
}

/** The same for a person to read: the address by its own name where it stands in for a value. */
export function valuesByDimension(
  dimensions: readonly Dimension[],
  asker: Asker,
): Readonly<Record<string, string>> {
  const { address, api } = asker;
  const shown = dimensions.map((dimension): [string, string] => {
    if (dimension === 'api') return ['api', api];
    if (dimension === 'global') return ['global', 'all'];
    const value = ownValueOf(dimension, asker);
    return value === undefined ? ['ip', address ?? ''] : [dimension, value];
  });
  return Object.fromEntries(shown);
}

/** Not what every object inherits, such as `constructor`. */
function ownValue(values: Asker['dimensions'], name: string): string | undefined {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

function escaped(value: string): string {
  const first = value.charCodeAt(0);
  return first === 64 /* @ */ || first === 61 /* = */ ? `=${value}` : value;
}
