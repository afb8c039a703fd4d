import { formatApiName, parseApiName } from './api-name.js';

/** The parts of a rule book. */
export const SECTIONS = ['default', 'api', 'user', 'tier', 'policy', 'always'] as const;
export type Section = (typeof SECTIONS)[number];

/** Where an entry of a book stands. */
export interface EntryKey {
  readonly section: Section;
  /** The api, user, tier or policy it is for; '' for `default` and a lone `always`. */
  readonly id: string;
  /** The api of a user's or tier's small book; undefined for its default. */
  readonly api?: string | undefined;
}

/** An entry as written, its value not read yet. */
export interface RawEntry {
  readonly key: EntryKey;
  readonly value: unknown;
}

/**
 * The one text of an entry's place: `default`, `api:/login`, `user:vip-1`, `user:vip-1.api./login`.
 * No two entries have the same; part of the identity of their counters.
 */
export function placeOf({ section, id, api }: EntryKey): string {
  if (section === 'default') return 'default';
  if (section === 'api') return `api:${formatApiName(parseApiName(id))}`;
  if (section === 'always' && id === '') return 'always';
  if (section === 'policy' || section === 'always') return `${section}:${id}`;
  const small = api === undefined ? '' : `.api.${formatApiName(parseApiName(api))}`;
  return `${section}:${escapeId(id)}${small}`;
}

/** The name shown for it: what the user called it, without the section where that is clear. */
export function labelOf(key: EntryKey): string {
  const named = (key.section === 'policy' || key.section === 'always') && key.id !== '';
  return named ? key.id : placeOf(key);
}

/** The place as an error tells it: `api "/login"`. */
export function placeText({ section, id, api }: EntryKey): string {
  if (id === '' && (section === 'default' || section === 'always')) return section;
  return `${section} ${JSON.stringify(id)}${api === undefined ? '' : `, api ${JSON.stringify(api)}`}`;
}

/** Dots that would be taken for the end of the id, as in properties text. */
function escapeId(id: string): string {
  return id
    .replaceAll('\\', '\\\\')
    .replaceAll('.api', '\\.api')
    .replace(/\.default$/, '\\.default');
}
