import { createHash } from 'node:crypto';
import type { AlgorithmName } from '../../core/rule-fields.js';
import type { Batch } from './batch.js';
import type { RedisConnection } from './clients/connection.js';
import { DECIDE, SINGLE } from './lua.js';

interface Script {
  readonly text: string;
  readonly sha: string;
}

const script = (text: string): Script => ({
  text,
  sha: createHash('sha1').update(text).digest('hex'),
});

const decide = script(DECIDE);
const singles = Object.fromEntries(
  Object.entries(SINGLE).map(([name, text]) => [name, script(text)]),
) as Record<AlgorithmName, Script>;

/**
 * Runs the script of a batch; one that the server does not know, or no longer, goes along with the
 * same call.
 *
 * @param deadline the last server millisecond at which the script may act; undefined for any
 */
export async function callScript(
  connection: RedisConnection,
  batch: Batch,
  deadline: number | undefined,
): Promise<readonly number[]> {
  const { single, first } = batch;
  const { sha, text } = single === undefined ? decide : singles[single];
  const keys = [...batch.keys];
  const args = ['EVALSHA', sha, String(keys.length), ...keys];
  args.push(first.nowMillis === undefined ? '' : String(first.nowMillis));
  args.push(deadline === undefined ? '' : String(deadline));
  batch.argumentsTo(args);
  const key = keys[0]!;
  let reply: unknown;
  try {
    reply = await connection.send(key, args);
  } catch (error) {
    if (!startsWith(error, 'NOSCRIPT')) throw error;
    args[0] = 'EVAL';
    args[1] = text;
    reply = await connection.send(key, args);
  }
  if (Array.isArray(reply) && reply.every(Number.isFinite)) return reply;
  throw new TypeError(`The script replied ${JSON.stringify(reply)}, which is no list of numbers`);
}

/** Whether the server's words begin so. */
export function startsWith(error: unknown, word: string): boolean {
  return error instanceof Error && error.message.startsWith(word);
}
