/*
 * Injection tokens that are no classes. From the registry of symbols, so that two copies of this
 * package in one process still mean the same.
 */

/** The options as given. */
export const OPTIONS: unique symbol = Symbol.for('nestjs-doorman:options') as never;
/** The options, checked and with their defaults. */
export const SETTINGS: unique symbol = Symbol.for('nestjs-doorman:settings') as never;
/** Where the faults of options, book and decorators are collected until the start. */
export const FAULTS: unique symbol = Symbol.for('nestjs-doorman:faults') as never;
