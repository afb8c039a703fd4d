/**
 * The value of `Access-Control-Expose-Headers` (Fetch, 3.3.3) that has pages of other origins read
 * `names` besides what is exposed already: as others wrote it, each name once, in any case.
 *
 * @param present the header as it stands: one value, several, or none
 */
export function exposedHeaders(present: unknown, names: readonly string[]): string {
  const there = [present ?? []].flat().join(', ').trim();
  const known = new Set(there.toLowerCase().split(/\s*,\s*/));
  const missing = names.filter((name) => {
    const lower = name.toLowerCase();
    return !known.has(lower) && known.add(lower);
  });
  return [...(there === '' ? [] : [there]), ...missing].join(', ');
}
