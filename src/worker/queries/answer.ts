import type { Refused } from '../../shared/runtime/http-refusals.ts';

/** An answer as JSON text with every number exact, or what is not there. */
export type Answer =
  | { kind: 'found'; body: string }
  | Refused
  /** This worker cannot answer; another one may. */
  | { kind: 'pass-on' };
