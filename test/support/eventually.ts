import { vi } from 'vitest';

/** Waits until an assertion holds; after `timeoutMs` its last failure is thrown. Also works in concurrent tests. */
export function eventually<T>(assertion: () => Promise<T> | T, timeoutMs = 60_000): Promise<T> {
  return vi.waitFor(assertion, { timeout: timeoutMs, interval: 20 });
}
