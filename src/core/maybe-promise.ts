import type { MaybePromise } from './store.js';

/**
 * Goes on with a value at once, or when its promise resolves: what needs no waiting does not
 * wait.
 */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** What was thrown, for those who ask later, if anybody does. */
export function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
}

/** Promises of any library. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
