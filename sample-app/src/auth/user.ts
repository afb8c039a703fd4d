/** Who is signed in. */
export interface User {
  readonly id: string;
  /** The company whose account it is. */
  readonly tenant: string | undefined;
}

/** A request as the guard below leaves it. */
export interface SignedInRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: User;
}

/** `acme` of `bob@acme`. */
export function tenantOf(userId: string): string | undefined {
  return /@(\w+)$/.exec(userId)?.[1];
}
