/* ioredis and iovalkey, which share their interface: described here as far as it is used. */

/** Options by their names; what they mean is the library's. */
export type Options = Readonly<Record<string, unknown>>;

/** A client of one server, or of the master that sentinels name. */
export interface Ioredis {
  readonly status: string;
  readonly options: Options;
  readonly stream?: { readonly writable: boolean; destroy(): void } | null;
  duplicate(overrides?: object): Ioredis;
  connect(): Promise<unknown>;
  disconnect(): void;
  sendCommand(command: object): Promise<unknown>;
  on(event: string, listener: (error?: Error) => void): unknown;
  off(event: string, listener: (error?: Error) => void): unknown;
}

/** A client of a cluster. */
export interface IoredisCluster extends Omit<Ioredis, 'duplicate' | 'stream'> {
  readonly isCluster: true;
  nodes(role?: string): Ioredis[];
  duplicate(nodes?: readonly unknown[], overrides?: object): IoredisCluster;
}

/** What a client sends: made here, since a method of the client would prefix keys and queue up. */
export interface CommandClass {
  new (
    name: string,
    args: readonly string[],
    options: { replyEncoding: 'utf8' },
  ): { slot?: number | null; getSlot(): number | null };
}

export function isIoredis(client: object): client is Ioredis | IoredisCluster {
  const { status, duplicate, disconnect, sendCommand, options } = client as Partial<Ioredis>;
  const methods = [duplicate, disconnect, sendCommand];
  return (
    typeof status === 'string' &&
    typeof options === 'object' &&
    methods.every((method) => typeof method === 'function')
  );
}

export function isIoredisCluster(client: object): client is IoredisCluster {
  return isIoredis(client) && (client as { isCluster?: unknown }).isCluster === true;
}

/**
 * The class of a client's commands. No client tells it, but each hands its commands to a method of
 * its own: here to this one.
 */
export function commandClassOf(client: Ioredis | IoredisCluster): CommandClass {
  const { call } = client as unknown as { call(this: object, name: string): object };
  const catcher = { options: {}, sendCommand: (command: object) => command };
  return call.call(catcher, 'ping').constructor as CommandClass;
}
