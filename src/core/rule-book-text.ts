import { type Faults, nearest } from './fault.js';
import { type EntryKey, type RawEntry, SECTIONS, type Section } from './rule-book-entry.js';

/**
 * Reads a book from properties text, a line an entry:
 *
 *   default = token-bucket,5,10
 *   api.POST /login = fixed-window,2,10        # a comment
 *   user.vip-1 = token-bucket,8,10
 *   tier.pro.api./search = token-bucket,100,1m
 *   policy.search = …      always.flood = …      mode = shadow
 *
 * The separator is the first `=` without a backslash before it. After `user.` or `tier.` the id
 * reaches to a final `.default` or the first `.api.`; `\.`, `\=`, `\#` and `\\` stand for the
 * character itself.
 */
export function readBookText(text: string, faults: Faults): { entries: RawEntry[]; mode?: string } {
  const entries: RawEntry[] = [];
  let mode: string | undefined;
  for (const [i, line] of text.split(/\r?\n|\r/).entries()) {
    const place = `line ${i + 1}`;
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const split = separator(content);
    if (split < 0) {
      const problem = 'a line is key = rule, such as default = token-bucket,5,10';
      faults.add({ code: 'BOOK_KEY', place, given: content, problem });
      continue;
    }
    const keyText = content.slice(0, split).trim();
    const value = content
      .slice(split + 1)
      .replace(/\s#.*$/s, '')
      .trim();
    if (keyText === 'mode') {
      const problem = 'mode is given twice in one book';
      if (mode !== undefined) faults.add({ code: 'BOOK_KEY', place, given: content, problem });
      mode = value;
    } else {
      const key = readKey(keyText, place, faults);
      if (key) entries.push({ key, value });
    }
  }
  return mode === undefined ? { entries } : { entries, mode };
}

function separator(line: string): number {
  for (let i = 0; i < line.length; i++) {
    if (line[i] === '\\') i++;
    else if (line[i] === '=') return i;
  }
  return -1;
}

function readKey(text: string, place: string, faults: Faults): EntryKey | undefined {
  const dot = text.indexOf('.');
  const section = dot < 0 ? text : text.slice(0, dot);
  const rest = dot < 0 ? '' : text.slice(dot + 1);
  const fault = (problem: string, meant?: string) =>
    faults.add({ code: 'BOOK_KEY', place, given: text, problem, meant });
  if (!SECTIONS.includes(section as Section)) {
    const known = [...SECTIONS, 'mode'];
    return fault(`a key begins with ${known.join(', ')}`, nearest(section, known));
  }
  if (section === 'default') {
    return dot < 0 ? { section, id: '' } : fault('default stands alone');
  }
  if (section === 'user' || section === 'tier') {
    return dot < 0 ? fault(`an id is missing: ${section}.some-id`) : smallBookKey(section, rest);
  }
  if (dot < 0 && section !== 'always') return fault(`a name is missing: ${section}.some-name`);
  return { section: section as Section, id: unescaped(rest) };
}

/** `vip-1`, `vip-1.default` or `vip-1.api./login`. */
function smallBookKey(section: 'user' | 'tier', rest: string): EntryKey {
  const api = unescapedIndexOf(rest, '.api.');
  if (api >= 0) {
    return { section, id: unescaped(rest.slice(0, api)), api: unescaped(rest.slice(api + 5)) };
  }
  const end = rest.length - '.default'.length;
  const isDefault = end >= 0 && rest.endsWith('.default') && !escapedAt(rest, end);
  return { section, id: unescaped(isDefault ? rest.slice(0, end) : rest) };
}

function unescapedIndexOf(text: string, part: string): number {
  let index = text.indexOf(part);
  while (index >= 0 && escapedAt(text, index)) index = text.indexOf(part, index + 1);
  return index;
}

/** Whether an odd number of backslashes stands before that character. */
function escapedAt(text: string, index: number): boolean {
  let start = index;
  while (start > 0 && text[start - 1] === '\\') start--;
  return (index - start) % 2 === 1;
}

/** Backslashes before other characters stay: a Windows domain's `corp\alice` is an id too. */
function unescaped(text: string): string {
  return text.replace(/\\([.=#\\])/g, '$1');
}
