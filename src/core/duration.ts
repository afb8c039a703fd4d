/** Milliseconds of each unit, largest first. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

const DURATION = /^(\d{1,16})(?:\.(\d{1,16}))?(ms|s|m|h|d)?$/;

/**
 * Reads `10` (seconds), `0.5`, `250ms`, `10s`, `5m`, `1h`, `1d`.
 *
 * @returns whole milliseconds, at least 1; undefined for anything else. Exact: the digits are
 * scaled as an integer, since 1.005 * 1000 is not 1005 in doubles.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const [, whole, fraction = '', unit = 's'] = match;
  const scaled = BigInt(whole + fraction) * BigInt(UNITS[unit as keyof typeof UNITS]);
  const scale = 10n ** BigInt(fraction.length);
  if (scaled % scale !== 0n) return undefined;
  const millis = Number(scaled / scale);
  return millis >= 1 && Number.isSafeInteger(millis) ? millis : undefined;
}

/** The shortest text that `parseDuration` reads back as `millis`. */
export function formatDuration(millis: number): string {
  for (const [unit, size] of Object.entries(UNITS)) {
    if (millis % size === 0) return `${millis / size}${unit}`;
  }
  return `${millis}ms`;
}
