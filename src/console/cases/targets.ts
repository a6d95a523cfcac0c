import { isMeant, namedTarget } from '../../shared/contract/target.ts';
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

/** The targets on which dry runs are known to be impossible: clients are online, and none that a run there could go to can make one. */
export function withoutDryRun(targets: readonly string[], clients: readonly Client[]): string[] {
  const online = clients.filter((client) => client.online);
  return targets.filter((written) => {
    if (written === EVERY_CLIENT) return online.some(({ dryRun }) => !dryRun);
    const target = namedTarget(written)?.target ?? { kind: 'all' };
    const meant = online.filter((client) => isMeant(target, client));
    return meant.length > 0 && meant.every(({ dryRun }) => !dryRun);
  });
}

/** Above so many real runs their number is typed before they start. */
export const MANY_RUNS = 100;

/** Whether a number was typed that is this one, in digits of any keyboard and grouped or not. */
export function isTyped(text: string, n: number): boolean {
  return text.normalize('NFKC').replace(/[\s.,’']/g, '') === String(n);
}
