import { Line } from './line.js';
import { type Address, addressText, asError, type Dial, type Link, reachWith } from './link.js';
import { type SentinelPlan, translate } from './plan.js';

/** How long one sentinel may take to answer before the next is asked. */
const SENTINEL_MILLIS = 500;

/**
 * A connection to the master that the sentinels name; they are asked anew for every link. What a
 * sentinel names is believed only when it calls itself the master, since right after a failover
 * some of them still name the old one.
 */
export function connectBySentinel(plan: SentinelPlan, onError?: (error: Error) => void): Line {
  const sentinels = [...plan.sentinels];
  return new Line(
    async (events, signal) => {
      const address = await findMaster(plan, sentinels, signal);
      return reachWith(plan.dial, address)(events, signal);
    },
    { onError, check: isMaster },
  );
}

/**
 * Asks one sentinel after the other; one that is of no use goes to the end of the list.
 *
 * @throws when none knows the master, with what each said
 */
async function findMaster(
  { name, natMap, dialSentinel }: SentinelPlan,
  sentinels: Address[],
  signal: AbortSignal,
): Promise<Address> {
  const dial = await dialSentinel;
  const said: string[] = [];
  for (const sentinel of [...sentinels]) {
    signal.throwIfAborted();
    try {
      const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name];
      const reply = (await ask(dial, sentinel, question, signal)) as [string, string] | null;
      if (reply) return translate(natMap, { host: reply[0], port: Number(reply[1]) });
      said.push(`${addressText(sentinel)} knows no ${JSON.stringify(name)}`);
    } catch (error) {
      said.push(`${addressText(sentinel)}: ${asError(error).message}`);
    }
    sentinels.push(sentinels.shift()!);
  }
  throw new Error(`No sentinel names the master: ${said.join(', ')}`);
}

/** One question over a link of its own, which ends with the answer, with `signal`, or in time. */
function ask(
  dial: Dial,
  address: Address,
  question: readonly string[],
  signal: AbortSignal,
): Promise<unknown> {
  let link: Link | undefined;
  let stop = () => {};
  const answer = new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no reply within ${SENTINEL_MILLIS} ms`)),
      SENTINEL_MILLIS,
    );
    const abort = () => reject(asError(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    link = dial(address, {
      up: () => link?.send(question).then(resolve, reject),
      gone: (error) => reject(error ?? new Error('the connection was closed')),
    });
  });
  return answer.finally(() => {
    stop();
    link?.close();
  });
}

/** A server that forbids ROLE is taken at the sentinel's word. */
async function isMaster(link: Link): Promise<void> {
  try {
    const [role] = (await link.send(['ROLE'])) as [string];
    if (role === 'master') return;
    throw new Error(`The sentinels name a ${role}`);
  } catch (error) {
    if (!/^NOPERM\b/.test(asError(error).message)) throw error;
  }
}
