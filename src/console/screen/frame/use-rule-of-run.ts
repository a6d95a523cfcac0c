import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { occurrencesOf } from '../../../shared/reasoning/tree.ts';
import { getTreeOfRun, type Tree } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import type { Followed } from '../../api/follow.ts';
import { type Failure, failureOf } from '../../api/request.ts';
import { compareRules, type RulesOfRunNow, withoutSettings } from '../../run/rules-of-run.ts';
import type { RuleContext } from './use-rule.ts';

/**
 * What is said of the rules of the run on the screen. `checking`: its own are asked for. `older`: they are shown, those of now are others.
 * `lost`: they are not kept. `unavailable`: the page could not read them. The others: nobody knows them.
 */
export type OfRun =
  | { kind: 'same' | 'checking' }
  | { kind: 'unavailable'; record: ExecutionRecord; tree: Tree | null; error: Failure }
  | { kind: 'older' | 'lost' | Exclude<RulesOfRunNow, 'same' | 'other'>; record: ExecutionRecord; tree: Tree | null };

/** The rule as the run on the screen ran it: everything that explains the run uses this one, not the rule of now. */
export function useRuleOfRun(rule: RuleContext, followed: Followed | null): RuleContext & { ofRun: OfRun } {
  const record = followed?.kind === 'ended' ? followed.execution.record : null;
  const now = rule.tree.data ?? null;
  const compared = rule.tree.isPending ? 'same' : compareRules(record, now?.digest ?? null);
  const mockId = record?.mockId ?? '';
  const kept = useQuery({
    queryKey: ['tree of a run', mockId],
    queryFn: ({ signal }) => getTreeOfRun(mockId, signal),
    enabled: compared === 'other',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isReading = useAskAgain(compared, mockId);
  // A run on other rules may be on newer ones than the page shows: until the page has read the rule again, nothing is said of them.
  const isChecking = compared === 'other' && (kept.isPending || isReading);
  const tree = useMemo(
    () => (compared === 'same' ? now : compared === 'other' && kept.data ? kept.data : now && withoutSettings(now)),
    [compared, now, kept.data],
  );
  const occurrences = useMemo(() => (tree?.root && !isChecking ? occurrencesOf(tree.root) : []), [tree, isChecking]);
  if (compared === 'same' || record === null) return { ...rule, ofRun: { kind: 'same' } };
  if (isChecking) return { ...rule, tree: { ...rule.tree, isPending: true }, occurrences, ofRun: { kind: 'checking' } };
  if (compared === 'other' && !kept.data && kept.error)
    return {
      ...rule,
      ...{ tree: { ...rule.tree, data: tree }, occurrences },
      ofRun: { kind: 'unavailable', record, tree: now, error: failureOf(kept.error) },
    };
  const kind = compared === 'other' ? (kept.data ? 'older' : 'lost') : compared;
  return { ...rule, tree: { ...rule.tree, data: tree }, occurrences, ofRun: { kind, record, tree: now } };
}

/** A run on other rules than the page shows may be a newer one: the page reads the rule again. Returns whether it still does. */
function useAskAgain(compared: RulesOfRunNow, mockId: string): boolean {
  const queries = useQueryClient();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    if (compared !== 'other' || mockId === '') return;
    for (const key of ['schema', 'rules']) void queries.invalidateQueries({ queryKey: [key] });
    // A tree that cannot be read says so itself.
    queries.invalidateQueries({ queryKey: ['tree'] }).finally(() => setAsked(mockId));
  }, [compared, mockId, queries]);
  return asked !== mockId;
}
