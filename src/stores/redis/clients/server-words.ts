import { asError, type Link } from './link.js';

/** A server that lets in may still be loading its data. One that forbids PING is a server as well. */
export async function answers(link: Link): Promise<void> {
  try {
    await link.send(['PING']);
  } catch (error) {
    if (!link.up || /^(LOADING|MASTERDOWN|NOAUTH)\b/.test(asError(error).message)) throw error;
  }
}

/** Redis 6.2 has its own words before those of a command that failed in a script. */
export function saysReadOnly(error: unknown): boolean {
  return error instanceof Error && /(^|-)READONLY /.test(error.message);
}
