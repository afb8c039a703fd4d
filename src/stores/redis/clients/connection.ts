/**
 * What the store asks of a client library: commands as they are, sent at once or not at all. Each
 * library has one adapter beside this file.
 */
export interface RedisConnection {
  /** Whether keys live in slots on several nodes, so that one command may only meet one slot. */
  readonly cluster: boolean;

  /** Whether a command sent now would go out now. */
  readonly ready: boolean;

  /**
   * Sends one command, which is never kept for later and never sent again.
   *
   * @param key decides which node of a cluster gets it
   * @returns the reply, integers as numbers, bulk strings as text
   * @throws the client's error, rejected: the server's words begin its message (`NOSCRIPT …`)
   */
  send(key: string, command: readonly string[]): Promise<unknown>;

  /** Calls `listener` whenever `ready` may have changed; one listener at most. */
  onChange(listener: () => void): void;

  /** Ends the connection for good, at once: what is under way is rejected. */
  close(): void;
}
