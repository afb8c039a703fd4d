import { type Address, addressText, asError } from './link.js';
import { translate } from './plan.js';
import { SLOTS } from './slot.js';

/** The master of every slot, and the masters, by their addresses as text. */
export interface SlotMap {
  readonly slots: string[];
  readonly masters: ReadonlyMap<string, Address>;
}

type SlotRange = [first: number, last: number, master: [host: string | null, port: number]];

/**
 * Reads the reply to CLUSTER SLOTS. A node that does not know its own address tells none or `?`:
 * then it is `host`, where it was asked.
 */
export function readSlotMap(reply: unknown, host: string, natMap: unknown): SlotMap {
  const slots = Array<string>(SLOTS);
  const masters = new Map<string, Address>();
  for (const [first, last, [told, port]] of reply as readonly SlotRange[]) {
    const known = told !== null && told !== '' && told !== '?';
    const address = translate(natMap, { host: known ? told : host, port });
    masters.set(addressText(address), address);
    slots.fill(addressText(address), first, last + 1);
  }
  return { slots, masters };
}

/** The first word of an error, and where it sends on to, if it does: `MOVED 42 10.0.0.1:6379`. */
export function readRedirection(
  error: unknown,
  host: string,
  natMap: unknown,
): { kind: string; address?: Address } {
  const [kind = '', , where = ''] = asError(error).message.split(' ');
  if (kind !== 'MOVED' && kind !== 'ASK') return { kind };
  const at = where.lastIndexOf(':');
  const told = { host: where.slice(0, at) || host, port: Number(where.slice(at + 1)) };
  return { kind, address: translate(natMap, told) };
}
