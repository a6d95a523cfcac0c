import { useMemo } from 'react';
import { isMeant } from '../../../shared/contract/target.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import type { Place } from '../../state/location.ts';
import { chooseDry, type Pins, useIsDry, usePins } from '../../state/preferences.ts';

export type DryRun = ReturnType<typeof useDryRun>;

type Rule = { clients: readonly Client[]; occurrences: readonly Occurrence[] };

/**
 * Whether the runs of this app are to have no effects. The choice stays until somebody takes it back: a run that was to have none never
 * becomes a real one because the last client that can is gone. `pins`: the replacements of nodes of this rule.
 */
export function useDryRun({ app, target }: Place, { clients, occurrences }: Rule) {
  const choose = (isOn: boolean) => chooseDry(app, isOn);
  const all = usePins(app);
  const pins: Pins = useMemo(() => {
    const here = new Set(occurrences.map(({ node }) => node.id));
    return Object.fromEntries(Object.entries(all).filter(([id]) => here.has(id)));
  }, [all, occurrences]);
  const meant = clients.filter((client) => client.online && (target.kind === 'each' || isMeant(target, client)));
  const isPossible = target.kind === 'each' ? meant.every(({ dryRun }) => dryRun) : meant.some(({ dryRun }) => dryRun);
  return { isOn: useIsDry(app), isPossible, choose, pins };
}
