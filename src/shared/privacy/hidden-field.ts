import type { Step } from '../cases/path.ts';

/** A field to hide: its path as the operator wrote it, and the steps that lead there from the data of an execution. */
export type HiddenField = { path: string; steps: readonly Step[] };

/** The path without list positions. */
export function namesOf(steps: readonly Step[]): string[] {
  return steps.filter((step): step is string => typeof step === 'string' && !/^\d+$/.test(step));
}
