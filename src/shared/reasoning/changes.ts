import { compactJson } from '../json-tree/print-json.ts';
import { readJson } from '../json-tree/read-json.ts';
import { nameOf, occurrencesOf, type TreeNode } from './tree.ts';
import type { Say } from './words/english.ts';
import { shortened } from './words/fact-words.ts';

/**
 * What differs between two trees of one rule, node by node: settings with both values, and what else can be configured. A node whose
 * children came, left or moved is not a change of its own: they are.
 */

/** One thing that is another one: a setting with its values as JSON text (null: not configured), or a part of the node. */
type Difference =
  | { kind: 'setting'; field: string; before: string | null; after: string | null }
  | { kind: 'inverse' | 'window' | 'name' | 'class' | 'errorState' | 'forward' | 'order' | 'moved' | 'state' };

/** `added`, `removed`: it stands in one of the trees only. Of the rule itself the id is empty. */
export type NodeChange = { id: string; name: string } & (
  | { how: 'added' | 'removed' }
  | { how: 'changed'; differences: Difference[] }
);

const MAX_NAMED = 4;

/** A tree with what is set for its rule as a whole. */
type OfRule = { rule: (Pick<TreeNode, 'timeWindow'> & { name: string | null }) | null; root: TreeNode | null };

/** The rule itself and the nodes that are other ones in `now` than in `before`. */
export function changesBetween(before: OfRule, now: OfRule): NodeChange[] {
  const differences =
    before.rule && now.rule
      ? othersIn(before.rule, now.rule, [
          ['name', ({ name }) => name],
          ['window', ({ timeWindow }) => timeWindow],
        ])
      : [];
  const ofRule: NodeChange[] = differences.length === 0 ? [] : [{ id: '', name: '', how: 'changed', differences }];
  return [...ofRule, ...changedNodes(before.root, now.root)];
}

type Kind = Exclude<Difference['kind'], 'setting'>;

/** The parts that are other ones in the second of two. */
function othersIn<Of>(old: Of, now: Of, parts: readonly [Kind, (of: Of) => unknown][]): Difference[] {
  return parts.flatMap(([kind, of]) => (JSON.stringify(of(old)) === JSON.stringify(of(now)) ? [] : [{ kind }]));
}

/** The nodes that are other ones in `now` than in `before`, in tree order, the removed ones last. */
function changedNodes(before: TreeNode | null, now: TreeNode | null): NodeChange[] {
  const [old, present] = [nodesOf(before), nodesOf(now)];
  const changes = [...present].flatMap(([id, at]): NodeChange[] => {
    const name = nameOf(at.node);
    const last = old.get(id);
    if (last === undefined) return [{ id, name, how: 'added' }];
    const differences = differencesOf(last, at);
    return differences.length === 0 ? [] : [{ id, name, how: 'changed', differences }];
  });
  const removed = [...old].filter(([id]) => !present.has(id));
  return [...changes, ...removed.map(([id, { node }]): NodeChange => ({ id, name: nameOf(node), how: 'removed' }))];
}

/** A node, and the ids of the nodes it stands below. */
type Placed = { node: TreeNode; parents: Set<string> };

function nodesOf(root: TreeNode | null): Map<string, Placed> {
  const nodes = new Map<string, Placed>();
  for (const { node, parent } of root === null ? [] : occurrencesOf(root)) {
    const placed = nodes.get(node.id) ?? { node, parents: new Set() };
    if (parent) placed.parents.add(parent.node.id);
    nodes.set(node.id, placed);
  }
  return nodes;
}

function differencesOf(before: Placed, now: Placed): Difference[] {
  const [old, present] = [before.node, now.node];
  const others = othersIn(old, present, [
    ['name', ({ label }) => label],
    ['class', ({ type, className }) => [type, className]],
    ['inverse', ({ inverse }) => inverse],
    ['window', ({ timeWindow }) => timeWindow],
    ['errorState', ({ errorState }) => errorState],
    ['forward', ({ forward }) => forward?.id ?? null],
    ['state', ({ state }) => state],
  ]);
  const isMoved = before.parents.size !== now.parents.size || [...now.parents].some((id) => !before.parents.has(id));
  return [
    ...settingsOf(old, present),
    ...others,
    ...(isReordered(old, present) ? [{ kind: 'order' as const }] : []),
    ...(isMoved ? [{ kind: 'moved' as const }] : []),
  ];
}

/** Whether the children that stand below both do so in another order. */
function isReordered(before: TreeNode, now: TreeNode): boolean {
  const [old, present] = [before, now].map(({ children }) => children.map(({ id }) => id));
  const both = (ids: readonly string[] = [], others: readonly string[] = []) => ids.filter((id) => others.includes(id));
  return both(old, present).join() !== both(present, old).join();
}

function settingsOf(before: TreeNode, now: TreeNode): Difference[] {
  const [old, present] = [valuesIn(before.values), valuesIn(now.values)];
  return [...new Set([...old.keys(), ...present.keys()])].flatMap((field) => {
    const [was, is] = [old.get(field) ?? null, present.get(field) ?? null];
    return was === is ? [] : [{ kind: 'setting' as const, field, before: was, after: is }];
  });
}

/** The configured settings, by field, as JSON text without blanks. */
function valuesIn(values: string): Map<string, string> {
  const read = readJson(values);
  if (read.kind !== 'ok' || read.root.kind !== 'object') return new Map([['', values]]);
  return new Map(read.root.members.map(({ key, value }) => [key, compactJson(value)]));
}

/** The changes in a few words: `#2 spent 100 or more (min 100 → 80), #9 spring bonus (new)`. */
export function changeWords(changes: readonly NodeChange[], say: Say): string {
  const words = changes.slice(0, MAX_NAMED).map((change) => {
    const node = change.id === '' ? say('rules.node.rule') : `#${change.id} ${change.name}`;
    if (change.how !== 'changed') return say(`rules.node.${change.how}`, { node });
    const parts = change.differences.map((difference) => differenceWords(difference, say));
    return `${node} (${parts.slice(0, MAX_NAMED).join(', ')}${parts.length > MAX_NAMED ? ', …' : ''})`;
  });
  return changes.length > MAX_NAMED ? `${words.join(', ')}, …` : words.join(', ');
}

function differenceWords(difference: Difference, say: Say): string {
  if (difference.kind !== 'setting') return say(`rules.node.${difference.kind}`);
  const { field, before, after } = difference;
  return `${field} ${shortened(before ?? '–')} → ${shortened(after ?? '–')}`;
}
