import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { factsOfTrees, type NodeFacts } from '../../../shared/conclusions/conclusion.ts';
import { changesBetween, type NodeChange } from '../../../shared/reasoning/changes.ts';
import { type Occurrence, occurrencesOf } from '../../../shared/reasoning/tree.ts';
import { getTreeOfRun, type Tree } from '../../api/browse.ts';
import { type Execution, type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { compareRules, withoutSettings } from '../../run/reading.ts';

/**
 * The places that compared runs are laid on. `onOthers`: how many ran on other rules than those of the tree, or on rules that nobody
 * knows; then the tree has no settings. `changes`: the nodes that are others in the second of two rules than in the first.
 * `factsOf`: what all these rules tell of the nodes of a run.
 */
type Places = {
  occurrences: Occurrence[];
  onOthers: number;
  changes: NodeChange[];
  factsOf: (record: ExecutionRecord) => NodeFacts;
};

/** Lays compared runs on the rules that they ran on, as far as these are known and the same. */
export function useRulesOfRuns(now: Tree | null, executions: ReadonlyMap<string, Execution>): Places {
  const records = [...executions.values()].map(({ record }) => record).filter(({ state }) => isEnd(state));
  const own = useOwnTrees(now, records);
  const [shown = null, other = null] = [...new Set(records.map((record) => digestOf(record, now)))]
    .filter((digest) => digest !== null)
    .flatMap((digest) => own.get(digest) ?? []);
  const tree = shown ?? now;
  const onOthers = records.filter((record) => shown === null || digestOf(record, now) !== keyOf(shown)).length;
  const occurrences = useMemo(() => {
    const root = (tree && onOthers > 0 ? withoutSettings(tree) : tree)?.root ?? null;
    return root === null ? [] : occurrencesOf(root);
  }, [tree, onOthers]);
  const changes = useMemo(() => (shown && other ? changesBetween(shown, other) : []), [shown, other]);
  const factsOf = useCallback(
    (record: ExecutionRecord) => {
      const rootsOf = (trees: Iterable<Tree>) => [...trees].flatMap(({ root }) => root ?? []);
      const all = rootsOf(own.values());
      const ran = own.get(digestOf(record, now) ?? '');
      return factsOfTrees(all, ran ? rootsOf([ran]) : all);
    },
    [own, now],
  );
  return { occurrences, onOthers, changes, factsOf };
}

/** A tree that could not be read whole has no digest. */
const keyOf = ({ digest }: Tree) => digest ?? '';

function digestOf(record: ExecutionRecord, now: Tree | null): string | null {
  switch (compareRules(record, now?.digest ?? null)) {
    case 'same':
      return now === null ? null : keyOf(now);
    case 'other':
      return record.rules?.digest ?? null;
    default:
      return null;
  }
}

function useOwnTrees(now: Tree | null, records: readonly ExecutionRecord[]): ReadonlyMap<string, Tree> {
  const wanted = new Map<string, string>();
  for (const record of records) {
    const digest = digestOf(record, now);
    if (digest !== null && (now === null || digest !== keyOf(now)) && !wanted.has(digest))
      wanted.set(digest, record.mockId);
  }
  const found = useQueries({
    queries: [...wanted.values()].map((mockId) => ({
      queryKey: ['tree of a run', mockId],
      queryFn: ({ signal }: { signal: AbortSignal }) => getTreeOfRun(mockId, signal),
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  const trees = new Map<string, Tree>();
  if (now !== null) trees.set(keyOf(now), now);
  for (const [index, digest] of [...wanted.keys()].entries()) {
    const tree = found[index]?.data;
    if (tree) trees.set(digest, tree);
  }
  return trees;
}
