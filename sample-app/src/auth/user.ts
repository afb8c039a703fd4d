/** Who is signed in. */
export interface User {
  readonly id: string;
}

/** A request as the guard below leaves it. */
export interface SignedInRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: User;
}
