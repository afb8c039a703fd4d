export { errorOf as asError } from '../../../core/fault.js';

/**
 * One socket to one server, as the adapter of a client library opens it: used once, never mended.
 * When it is gone another one is opened, here and not in the libraries, so that all of them behave
 * the same: nothing is kept for later, nothing is sent twice, no timer of theirs outlives `close`.
 */
export interface Link {
  /** Whether a command written now would reach the socket. */
  readonly up: boolean;

  /** Writes one command. Rejects with the server's error, or when the socket is gone. */
  send(command: readonly string[]): Promise<unknown>;

  /** Ends the socket at once, answered or not. Never throws; `gone` need not follow. */
  close(): void;
}

export interface LinkEvents {
  /** The socket is there, and logged in if need be. */
  up(): void;
  /** It is no more, or never came to be. */
  gone(error?: Error): void;
}

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Opens a socket: to the address, or to the one in the options of the client handed in. */
export type Dial = (address: Address | undefined, events: LinkEvents) => Link;

/** Opens one link. Aborted when it came too late or the connection was closed. */
export type Reach = (events: LinkEvents, signal: AbortSignal) => Promise<Link>;

/** Reaches an address with a dial that may still have to be loaded. */
export function reachWith(dial: Dial | Promise<Dial>, address?: Address): Reach {
  return async (events, signal) => {
    const dialNow = await dial;
    signal.throwIfAborted();
    return dialNow(address, events);
  };
}

/** How long a server may take to let in, and to answer, before its socket counts as dead. */
export const PATIENCE_MILLIS = 2_000;

/** `host:port` of an address. */
export function addressText({ host, port }: Address): string {
  return `${host}:${port}`;
}

/** The host of such a text. */
export function hostOf(text: string): string {
  return text.slice(0, text.lastIndexOf(':'));
}

/**
 * The address in a text or an object: `redis://host:port`, `host:port`, `[::1]:6379`, a port alone.
 * Without a port it is `defaultPort`.
 */
export function readAddress(given: unknown, defaultPort = 6379): Address {
  if (typeof given === 'number') return { host: '127.0.0.1', port: given };
  if (typeof given === 'object' && given !== null) {
    const { host, port } = given as { host?: string; port?: number | string };
    return { host: host ?? '127.0.0.1', port: Number(port ?? defaultPort) };
  }
  const text = String(given);
  if (/^\d+$/.test(text)) return { host: '127.0.0.1', port: Number(text) };
  const { hostname, port } = new URL(text.includes('://') ? text : `redis://${text}`);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort : Number(port),
  };
}
