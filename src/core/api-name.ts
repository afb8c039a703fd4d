/**
 * What is asked for, as it is looked up: `METHOD /path` first, then the path. HEAD is GET, so
 * that asking for the headers alone is no way around a limit.
 */
export interface ApiName {
  /** `POST` of `POST /orders`; undefined for anything that does not begin with a method. */
  readonly method: string | undefined;
  /** The template or name without a method: what counters count by. */
  readonly name: string;
}

const WITH_METHOD = /^([A-Za-z]+)\s+(\/.*)$/s;

/** Reads `POST /orders`, `/orders`, `Query.orders`: any text is a name. */
export function parseApiName(text: string): ApiName {
  const match = WITH_METHOD.exec(text);
  if (!match) return { method: undefined, name: text };
  return { method: canonicalMethod(match[1]!), name: match[2]! };
}

/** Upper case, HEAD as GET. */
export function canonicalMethod(method: string): string {
  const upper = method.toUpperCase();
  return upper === 'HEAD' ? 'GET' : upper;
}

/** One spelling for each name: `get  /orders` is `GET /orders`. */
export function formatApiName({ method, name }: ApiName): string {
  return method === undefined ? name : `${method} ${name}`;
}
