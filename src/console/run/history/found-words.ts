import { parsePath } from '../../../shared/cases/path.ts';
import type { SearchProgress } from '../../../shared/contract/execution.ts';
import { readJson } from '../../../shared/json-tree/read-json.ts';
import { valueAt } from '../../../shared/json-tree/value-at.ts';
import type { SchemaField } from '../../api/browse.ts';
import type { Listed, RunSearch } from '../../api/executions.ts';
import { isRead } from '../form.ts';

/** `path=value`, where the value is no text. */
const EQUALS = /^([^=<>!]+)=([-\d.eE+]+|true|false|null)$/;

type Found = {
  runs: readonly Listed[];
  search: RunSearch;
  searched: SearchProgress;
  isSearching: boolean;
  hasMore: boolean;
};

/** What a search has come to. `asText`: how many of the runs have the value in quotes, which a number finds as well. */
type FoundSoFar =
  | { kind: 'searching' }
  | { kind: 'empty' | 'none' | 'stopped'; n: number }
  | { kind: 'first' | 'all'; found: number; n: number; asText: { n: number; path: string; value: string } | null };

export function foundSoFar({ runs, search, searched, isSearching, hasMore }: Found): FoundSoFar {
  const n = searched.executions;
  const found = runs.length;
  if (found > 0) return { kind: hasMore || isSearching ? 'first' : 'all', found, n, asText: asTextIn(runs, search) };
  if (isSearching) return { kind: 'searching' };
  return { kind: hasMore ? 'stopped' : n === 0 ? 'empty' : 'none', n };
}

function asTextIn(runs: readonly Listed[], { where }: RunSearch) {
  const asked = where.flatMap((condition) => {
    const [, path = '', value = ''] = EQUALS.exec(condition) ?? [];
    return path === '' ? [] : { path, value, steps: (parsePath(path) ?? []).map(String) };
  });
  for (const { path, value, steps } of asked) {
    const n = runs.filter(({ input }) => {
      const read = input ? readJson(input) : null;
      return read?.kind === 'ok' && valueAt(read.root, steps)?.kind === 'string';
    }).length;
    if (n > 0) return { n, path, value };
  }
  return null;
}

/** The keys that a search asks for and the rule does not read: they may be mistyped. */
export function unreadKeys({ where }: RunSearch, fields: readonly SchemaField[]): string[] {
  if (fields.length === 0) return [];
  const paths = where.map((condition) => condition.slice(0, condition.search(/[=<>!]/)));
  return [...new Set(paths.filter((path) => !isRead(path, fields)))];
}

type HistoryLine = { kind: 'run'; run: Listed } | { kind: 'comparison'; runs: Listed[] };

/** Puts the runs of each comparison together, in the place of its newest. Only their own id says that runs belong together. */
export function groupComparisons(runs: readonly Listed[]): HistoryLine[] {
  const all = Map.groupBy(runs, ({ comparisonId, mockId }) => comparisonId ?? mockId);
  return [...all.values()].flatMap((together): HistoryLine[] => {
    const [run] = together;
    if (run === undefined) return [];
    return [together.length === 1 ? { kind: 'run', run } : { kind: 'comparison', runs: together }];
  });
}
