import type { Refusal } from './refusal.ts';

/** The cases of a batch that are left out because of a mistake in them, and the first hundred mistakes. */
export type SetAside = { cases: number; refusals: readonly Refusal[] };

export const noneSetAside: SetAside = { cases: 0, refusals: [] };
