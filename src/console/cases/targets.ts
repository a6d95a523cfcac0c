import type { Client } from '../api/browse.ts';
import { createStored } from '../state/stored.ts';

/** Stands for each client that is online when the batch begins. */
export const EVERY_CLIENT = 'client:*';

/** The targets that cases ran on last, whatever the rule. */
export const chosenTargets = createStored<string[]>('batch-targets', {
  read: (stored) => {
    const known = Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
    return known.length > 0 ? known : ['all'];
  },
});

/** How many runs so many cases are on these targets. */
export function countRuns(cases: number, targets: readonly string[], clients: readonly Client[]): number {
  const online = clients.filter((client) => client.online).length;
  return cases * targets.reduce((sum, target) => sum + (target === EVERY_CLIENT ? online : 1), 0);
}

/** From so many real runs on the page asks once more. */
export const MANY_RUNS = 100;
