import { type Address, addressText, type Dial } from './link.js';

/** How to connect as a client would, or as addresses say. A library still to be loaded is a promise. */
export type Plan = ServerPlan | ClusterPlan | SentinelPlan;

export interface ServerPlan {
  readonly kind: 'server';
  readonly dial: Dial | Promise<Dial>;
  /** Where the client handed in does not say it. */
  readonly address?: Address;
}

export interface ClusterPlan {
  readonly kind: 'cluster';
  readonly dial: Dial | Promise<Dial>;
  readonly seeds: readonly Address[];
  readonly natMap?: unknown;
}

export interface SentinelPlan {
  readonly kind: 'sentinel';
  readonly dial: Dial | Promise<Dial>;
  readonly dialSentinel: Dial | Promise<Dial>;
  readonly sentinels: readonly Address[];
  /** Of the master, as the sentinels know it. */
  readonly name: string;
  readonly natMap?: unknown;
}

/** The address from here of one that servers tell: an object or a function of `host:port`. */
export function translate(natMap: unknown, address: Address): Address {
  const text = addressText(address);
  const mapped =
    typeof natMap === 'function'
      ? natMap(text)
      : (natMap as Readonly<Record<string, unknown>> | null | undefined)?.[text];
  if (typeof mapped !== 'object' || mapped === null) return address;
  const { host, port } = mapped as Address;
  return { host, port: Number(port) };
}

/** A promise that is awaited later: until then its rejection is nobody's fault. */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
