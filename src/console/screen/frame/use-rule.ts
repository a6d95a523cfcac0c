import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { type Occurrence, occurrencesOf } from '../../../shared/reasoning/tree.ts';
import type { App, Client, Selection } from '../../api/browse.ts';
import { useApps, useClients, useRules, useSchema, useTree } from '../../run/queries/use-service.ts';
import { useSteady } from '../../run/queries/use-steady.ts';
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
  useNewRelease(version);
  useNewsOfClients(clients.data);
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

/** A new version of the rules makes the page read the rule again; the first that is heard of is the one it reads anyway. */
function useNewRelease(version: string | null): void {
  const queries = useQueryClient();
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (version === null) return;
    if (last.current !== null && last.current !== version) {
      void queries.invalidateQueries({ queryKey: ['schema'] });
      void queries.invalidateQueries({ queryKey: ['tree'] });
    }
    last.current = version;
  }, [version, queries]);
}

/** Clients publish which keys a rule reads: when one comes, goes or loads another version, the page asks again. */
function useNewsOfClients(clients: readonly Client[] | undefined): void {
  const queries = useQueryClient();
  const known = clients
    ?.map(({ address, lane, online, loadedVersion }) => `${lane}/${address}/${online}/${loadedVersion}`)
    .join(' ');
  const last = useRef(known);
  useEffect(() => {
    if (last.current !== undefined && last.current !== known) {
      for (const key of ['schema', 'tree', 'rules']) void queries.invalidateQueries({ queryKey: [key] });
    }
    last.current = known;
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
