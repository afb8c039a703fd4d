import type { HeaderDialect } from './dialect.js';
import { ietfHeaders } from './ietf.js';
import { legacyHeaders } from './legacy.js';

/** The dialects that have a name: a new one is a file beside this one and a line here. */
export const HEADER_DIALECTS = {
  ietf: ietfHeaders,
  legacy: legacyHeaders,
} as const satisfies Record<string, HeaderDialect>;

export type HeaderDialectName = keyof typeof HEADER_DIALECTS;

export type { HeaderDialect } from './dialect.js';
