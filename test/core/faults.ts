import { type Fault, RateLimitConfigError } from '../../src/core/fault.js';

/** Every fault that reading something told; none when it was read. Other errors pass through. */
export function faultsOf(read: () => unknown): readonly Fault[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof RateLimitConfigError) return error.faults;
    throw error;
  }
}
