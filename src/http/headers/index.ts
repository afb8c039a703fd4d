import type { HeaderDialect } from './dialect.js';
import { draft6Headers } from './draft-6.js';
import { draft7Headers } from './draft-7.js';
import { draft8Headers } from './draft-8.js';
import { ietfHeaders } from './ietf.js';
import { legacyHeaders } from './legacy.js';

/** The dialects that have a name: a new one is a file beside this one and a line here. */
export const HEADER_DIALECTS = {
  ietf: ietfHeaders,
  'draft-8': draft8Headers,
  'draft-7': draft7Headers,
  'draft-6': draft6Headers,
  legacy: legacyHeaders,
} as const satisfies Record<string, HeaderDialect>;

export type HeaderDialectName = keyof typeof HEADER_DIALECTS;

export { contradiction } from './contradiction.js';
export type { HeaderDialect } from './dialect.js';
export { guarded } from './guarded.js';
