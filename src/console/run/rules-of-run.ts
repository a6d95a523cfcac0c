import { bareNode, occurrencesOf } from '../../shared/reasoning/tree.ts';
import type { Tree } from '../api/browse.ts';
import type { ExecutionRecord, RulesOfRun } from '../api/executions.ts';

/**
 * The rules of a run beside those of now. `same`: also where there is no run, and where nothing was sent. `other`: another digest. What its
 * client ran on is not known in the others. `unrecorded`: it was kept before rules were. `unread`: the files could not be read when it was sent.
 * `lagging`, `ahead`: its client had told an earlier version than was released, or a later one, and its answer does not say which one ran.
 * `unsure`: the files had changed without a new version.
 */
export type RulesOfRunNow = 'same' | 'other' | 'unrecorded' | 'unread' | 'unsure' | 'lagging' | 'ahead';

export function compareRules(record: ExecutionRecord | null, digestNow: string | null): RulesOfRunNow {
  if (record === null || !record.history.some(({ state }) => state === 'dispatched')) return 'same';
  if (record.rules === null) return 'unrecorded';
  if (record.rules.digest === null) return digestNow === null ? 'same' : 'unread';
  const { released, loaded, digest, told, unsure } = record.rules;
  if (unsure) return 'unsure';
  if (!told && released !== null && loaded !== null && loaded !== released)
    return BigInt(loaded) < BigInt(released) ? 'lagging' : 'ahead';
  return digest === digestNow ? 'same' : 'other';
}

/** The version that a run ran on: as its client told, else what was released when it was sent. Null where the app has none. */
export function versionRan(rules: RulesOfRun): string | null {
  if (rules?.told && rules.loaded !== '0') return rules.loaded;
  return rules?.released ?? null;
}

/** The same tree without what it decides by: of a run on rules that nobody knows, only its shape helps a reader. */
export function withoutSettings(tree: Tree): Tree {
  return { ...tree, keys: [], root: tree.root && bareNode(tree.root) };
}

export type NodeChange = { id: string; name: string; how: 'added' | 'removed' | 'changed' };

/** The nodes that are other ones in `now` than in `before`, in tree order, the removed ones last. */
export function changedNodes(before: Tree, now: Tree): NodeChange[] {
  const [old, present] = [definitions(before), definitions(now)];
  const changes = [...present].flatMap(([id, { name, text }]): NodeChange[] => {
    const last = old.get(id);
    if (last === undefined) return [{ id, name, how: 'added' }];
    return last.text === text ? [] : [{ id, name, how: 'changed' }];
  });
  const removed = [...old].filter(([id]) => !present.has(id));
  return [...changes, ...removed.map(([id, { name }]): NodeChange => ({ id, name, how: 'removed' }))];
}

function definitions({ root }: Tree): Map<string, { name: string; text: string }> {
  const all = root === null ? [] : occurrencesOf(root);
  return new Map(
    all.map(({ node }) => {
      const { label, className, shortName, type, inverse, errorState, timeWindow, values, state } = node;
      const below = [node.forward?.id ?? null, ...node.children.map(({ id }) => id)];
      const text = JSON.stringify([label, className, type, inverse, errorState, timeWindow, values, state, below]);
      return [node.id, { name: label ?? shortName ?? type, text }];
    }),
  );
}
