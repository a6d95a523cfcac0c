import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Occurrence, occurrencesOf } from '../../../shared/reasoning/tree.ts';
import { type App, type Client, getTreeOfRun, type Selection, type Tree } from '../../api/browse.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import type { FollowedExecution } from '../../api/follow-execution.ts';
import { type Failure, failureOf } from '../../api/request.ts';
import { openedRun } from '../../run/queries/use-execution.ts';
import { useApps, useClients, useRules, useSchema, useSteady, useTree } from '../../run/queries/use-service.ts';
import { compareRules, type RulesOfRunNow, withoutSettings } from '../../run/reading.ts';
import { goTo, type Place, type Target } from '../../state/location.ts';
import { lastApp } from '../../state/preferences.ts';

export type RuleContext = ReturnType<typeof useRule>;

const noOccurrences: Occurrence[] = [];

/** The choices and the chosen rule: apps, rules, clients, the rule's tree and keys. */
export function useRule(place: Place) {
  const { app } = place;
  const apps = useSteady(useApps());
  const rules = useSteady(useRules(app));
  const clients = useClients(app);
  const version = rules.data?.version ?? null;
  const selection = useMemo(() => selectionOf(place), [place]);
  const tree = useSteady(useTree(selection));
  const schema = useSteady(useSchema(selection));
  const root = tree.data?.root ?? null;
  const occurrences = useMemo(() => (root ? occurrencesOf(root) : noOccurrences), [root]);
  useNews(rules.data && `${rules.data.version}`, ['schema', 'tree']);
  useNews(clients.data?.map(stateOf).join(' '), ['schema', 'tree', 'rules']);
  useFirstChoice(place, apps.data, rules.data?.rules);
  return { app, apps, rules, clients, version, selection, tree, schema, occurrences };
}

function selectionOf({ app, ruleId, confId, target }: Place): Selection | null {
  if (app === null || (ruleId === null && confId === null)) return null;
  return { app, ruleId, confId, ...wantedOf(target) };
}

/** Of which clients the page shows what they publish. */
function wantedOf(target: Target): Pick<Selection, 'lane' | 'address'> {
  switch (target.kind) {
    case 'all':
    case 'each':
      return { lane: null, address: null };
    case 'lane':
      return { lane: target.lane, address: null };
    case 'address':
      return { lane: null, address: target.address };
  }
}

/** What clients publish of a rule may be other when one comes, goes or loads another version. */
const stateOf = ({ address, lane, online, loadedVersion }: Client) => `${lane}/${address}/${online}/${loadedVersion}`;

/** Reads the rule again when what is known of its app changes; what is known first is of the rule that was read. */
function useNews(known: string | undefined, keys: readonly string[]): void {
  const queries = useQueryClient();
  const last = useRef(known);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys never change
  useEffect(() => {
    const before = last.current;
    last.current = known;
    if (before === undefined || known === undefined || before === known) return;
    for (const key of keys) void queries.invalidateQueries({ queryKey: [key] });
  }, [known, queries]);
}

/** A first visit opens something at once: the app of last time, else the first, and its first rule. */
function useFirstChoice(place: Place, apps: readonly App[] | undefined, rules: { ruleId: string }[] | undefined): void {
  const { app, ruleId, confId } = place;
  useEffect(() => {
    if (app !== null) return lastApp.set(app);
    const last = lastApp.get();
    const first = apps?.find((known) => known.app === last) ?? apps?.[0];
    if (first !== undefined) goTo({ app: first.app });
  }, [app, apps]);
  useEffect(() => {
    const first = rules?.[0];
    if (app !== null && ruleId === null && confId === null && first) goTo({ ruleId: first.ruleId });
  }, [app, ruleId, confId, rules]);
}

/**
 * What is said of the rules of the run on the screen. `checking`: its own are asked for. `older`: they are shown, those of now are others.
 * `lost`: they are not kept. `unavailable`: the page could not read them. The others: nobody knows them.
 */
export type OfRun =
  | { kind: 'same' | 'checking' }
  | { kind: 'unavailable'; record: ExecutionRecord; tree: Tree | null; error: Failure }
  | { kind: 'older' | 'lost' | Exclude<RulesOfRunNow, 'same' | 'other'>; record: ExecutionRecord; tree: Tree | null };

/** The rule as the run on the screen ran it: everything that explains the run uses this one, not the rule of now. */
export function useRuleOfRun(rule: RuleContext, followed: FollowedExecution | null): RuleContext & { ofRun: OfRun } {
  const record = followed?.kind === 'ended' ? followed.execution.record : null;
  const fromFile = openedRun(record?.mockId ?? null)?.tree ?? null;
  const now = fromFile ?? rule.tree.data ?? null;
  const compared = rule.tree.isPending && fromFile === null ? 'same' : compareRules(record, now?.digest ?? null);
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
  if (fromFile !== null && compared === 'same')
    return { ...rule, tree: { ...rule.tree, isPending: false, data: tree }, occurrences, ofRun: { kind: 'same' } };
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

/** The client that came while the page waited for a first one; null when the page did not wait, or the reader has read it. */
export function useGreeting({ app, apps, clients }: RuleContext): { client: Client | null; dismiss: () => void } {
  const isWaiting = app === null && apps.data?.length === 0;
  const [state, setState] = useState<'none' | 'waiting' | 'greeting'>('none');
  const first = clients.data?.find(({ online }) => online) ?? null;
  useEffect(() => {
    if (isWaiting) setState('waiting');
    else if (state === 'waiting' && first !== null) setState('greeting');
  }, [isWaiting, state, first]);
  return { client: state === 'greeting' ? first : null, dismiss: () => setState('none') };
}
