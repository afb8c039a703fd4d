/** What a counter can tell apart: who asks, what for, from where; `global` counts all as one. */
export type Dimension = string;

/** The dimensions that need no telling. */
export const BUILT_IN_DIMENSIONS = ['user', 'api', 'ip', 'global'] as const;

const DIMENSION = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** Reads `user+api`: undefined when it is not dimensions joined with `+`, each once. */
export function parseDimensions(text: string): readonly Dimension[] | undefined {
  const names = text.split('+').map((name) => name.trim());
  if (!names.every((name) => DIMENSION.test(name))) return undefined;
  return new Set(names).size === names.length ? names : undefined;
}
