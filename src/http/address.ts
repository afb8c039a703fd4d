/**
 * One key for one client, however its address is written.
 *
 *   1.2.3.4   ::ffff:1.2.3.4   [::FFFF:102:304]:8080   →   1.2.3.4
 *   2001:db8:1:2ff::1   2001:0DB8:1:0200:0::2%eth0     →   2001:db8:1:200::/56
 *
 * The text is read into 128 bits, and the bits are printed in one way only. IPv4 is held in its
 * IPv4-mapped form, so both notations are the same bits before anything is decided: cutting first
 * and looking for IPv4 later would put every IPv4 client into `::/56`, one bucket.
 *
 * Liberal about what surrounds an address (brackets, port, zone, white space), since each spelling
 * not understood is a fresh counter; strict about its digits, since readers disagree on whether
 * `010.0.0.1` is octal and a guess would charge somebody else.
 */

/** Room for address (45), brackets, port and zone. Bounds the work below for hostile text. */
const MAX_TEXT = 128;

const BRACKETED = /^\[([^\]]+)\](?::(\d{1,5}))?$/;
/** After a dotted quad a colon can only start a port; after a hex group it would be ambiguous. */
const QUAD_AND_PORT = /^([\da-f:]*(?:\d{1,3}\.){3}\d{1,3}):(\d{1,5})$/i;
const ZONE = /%[\w.~%:-]+$/;

/**
 * The text under which a client's address is counted.
 *
 * - IPv4, also as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2): the dotted quad. Never cut.
 * - Other IPv6: its first `ipv6Prefix` bits as RFC 5952 prints them, with `/ipv6Prefix` below 128.
 *   One subscriber commonly holds a /64 to a /56, so whole addresses would be free fresh counters.
 * - Port, brackets, zone (RFC 4007) and surrounding white space are dropped.
 * - Anything else: the text itself, trimmed. It never equals the key of an address: every key is
 *   itself a notation that is understood and stands for itself, and this text was not understood.
 *
 * Never throws, whatever the text; linear in its length.
 * @param ipv6Prefix whole, 1 to 128; not checked here, as this runs on every request
 */
export function addressKey(text: string, ipv6Prefix = 56): string {
  if (isQuad(text, 0)) return text;
  // What a dual-stack socket of Node reports for each IPv4 client: as common as the plain quad.
  if (text.startsWith('::ffff:') && isQuad(text, 7)) return text.slice(7);
  const trimmed = text.trim();
  const groups = trimmed.length > MAX_TEXT ? undefined : read(trimmed, ipv6Prefix);
  return groups === undefined ? trimmed : print(groups, ipv6Prefix);
}

/** Whether the rest is a dotted quad, without zeros that lead as in octal. Allocates nothing. */
function isQuad(text: string, from: number): boolean {
  if (text.length - from > 15) return false;
  let dots = 0;
  let octet = -1; // no digit yet
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      if (octet < 0) return false;
      dots++;
      octet = -1;
    } else {
      if (code < 48 || code > 57 || octet === 0) return false;
      octet = (octet < 0 ? 0 : octet * 10) + code - 48;
      if (octet > 255) return false;
    }
  }
  return dots === 3 && octet >= 0;
}

/** The eight groups of an address in any of the notations: the plainest first, as the commonest. */
function read(text: string, ipv6Prefix: number): number[] | undefined {
  return readAddress(text) ?? readAddress(unwrap(text)) ?? readKey(text, `/${ipv6Prefix}`);
}

/** Only IPv6 is ever printed as a network, so `1.2.3.4/56` is no key. */
function readKey(text: string, suffix: string): number[] | undefined {
  const groups = text.endsWith(suffix) ? readAddress(text.slice(0, -suffix.length)) : undefined;
  return groups !== undefined && isMapped(groups) ? undefined : groups;
}

/** Drops brackets, port and zone where they are well formed; `readAddress` refuses the rest. */
function unwrap(text: string): string {
  const [, host = text, port = '0'] = BRACKETED.exec(text) ?? QUAD_AND_PORT.exec(text) ?? [];
  return Number(port) > 65_535 ? text : host.replace(ZONE, '');
}

function readAddress(text: string): number[] | undefined {
  const tail = text.lastIndexOf(':') + 1;
  if (!isQuad(text, tail)) return readGroups(text);
  const [a = 0, b = 0, c = 0, d = 0] = text.slice(tail).split('.').map(Number);
  const [high, low] = [(a << 8) | b, (c << 8) | d];
  if (tail === 0) return [0, 0, 0, 0, 0, 0xffff, high, low];
  return readGroups(`${text.slice(0, tail)}${high.toString(16)}:${low.toString(16)}`);
}

/** Reads `h:h:h:h:h:h:h:h`, where `::` may stand once for one or more groups of zeros. */
function readGroups(text: string): number[] | undefined {
  const groups: number[] = [];
  let gap = text.startsWith('::') ? 0 : -1;
  let i = gap < 0 ? 0 : 2;
  while (i < text.length) {
    const start = i;
    let group = 0;
    for (let digit = hex(text, i); digit >= 0; digit = hex(text, ++i)) group = group * 16 + digit;
    if (i === start || i > start + 4) return undefined;
    groups.push(group);
    if (i === text.length) break;
    if (text[i++] !== ':' || i === text.length) return undefined;
    if (text[i] !== ':') continue;
    if (gap >= 0) return undefined;
    gap = groups.length;
    i++;
  }
  const missing = 8 - groups.length;
  if (gap < 0 ? missing !== 0 : missing < 1) return undefined;
  groups.splice(gap, 0, ...Array<number>(missing).fill(0));
  return groups;
}

/** The value of the hex digit at `i`; -1 for another character and past the end. */
function hex(text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}

function print(groups: readonly number[], ipv6Prefix: number): string {
  if (isMapped(groups)) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  if (ipv6Prefix >= 128) return compress(groups);
  const kept = (i: number) => Math.min(Math.max(ipv6Prefix - 16 * i, 0), 16); // bits of group i
  return `${compress(groups.map((group, i) => group & (0xffff << (16 - kept(i)))))}/${ipv6Prefix}`;
}

/** RFC 5952, 4.2: the longest run of zeros becomes `::`, the first of equals, never a single one. */
function compress(groups: readonly number[]): string {
  let start = 0;
  let length = 1;
  let run = 0;
  for (let i = 0; i < groups.length; i++) {
    run = groups[i] === 0 ? run + 1 : 0;
    if (run > length) [start, length] = [i - run + 1, run];
  }
  const texts = groups.map((group) => group.toString(16));
  if (length === 1) return texts.join(':');
  return `${texts.slice(0, start).join(':')}::${texts.slice(start + length).join(':')}`;
}
