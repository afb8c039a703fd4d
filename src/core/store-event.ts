/**
 * What happens to a store. `failed` and `recovered` come in turn, once each, however many requests
 * meet the failure; `breaker` tells each change of the breaker's state; `warning` what an operator
 * should change.
 */
export type StoreEvent =
  | { readonly type: 'failed'; readonly error: Error }
  | { readonly type: 'recovered' }
  | { readonly type: 'breaker'; readonly state: BreakerState }
  | { readonly type: 'warning'; readonly code: string; readonly message: string };

/** Closed: asks the store. Open: does not. Half-open: one request is asking whether it is back. */
export type BreakerState = 'closed' | 'open' | 'half-open';
