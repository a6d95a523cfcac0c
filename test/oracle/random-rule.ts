import type { RuleObjects } from '../../src/client/runs/load-objects.ts';
import { comparisons } from '../../src/shared/contract/rules-and-clients.ts';
import { ALWAYS, type Comparison, type TimeWindow, type TreeNode } from '../../src/shared/reasoning/tree.ts';

/** Random rules, which the engine of the Node client runs and the reasoning about them reads. */
export type RandomNode = {
  id: number;
  type: keyof typeof NUMBERS;
  leaf: keyof typeof LEAVES | null;
  inverse: boolean;
  /** Epoch ms; between two times. */
  window: [number, number] | null;
  errorState: number | null;
  forward: RandomNode | null;
  children: RandomNode[];
  settings: Record<string, unknown>;
};

const NUMBERS = {
  None: 0,
  And: 1,
  True: 2,
  All: 3,
  Any: 4,
  LeafFlow: 5,
  LeafResult: 6,
  LeafNone: 7,
  'P-None': 8,
  'P-And': 9,
  'P-True': 10,
  'P-All': 11,
  'P-Any': 12,
};
const RELATIONS = ['And', 'Any', 'All', 'None', 'True', 'P-And', 'P-Any', 'P-All', 'P-None', 'P-True'] as const;
export const LEAVES = {
  Compared: 'LeafFlow',
  IsOdd: 'LeafFlow',
  Fails: 'LeafFlow',
  Gives: 'LeafResult',
  LooksUp: 'LeafNone',
  Sets: 'LeafNone',
} as const;

export const KEYS = ['a', 'b', 'c', 'd', 'city'];
export const CITIES = ['Paris', 'Rome', 'Oslo'];
/** Every time window of a rule has one of them as an end; rules run as of times between. */
export const TIMES = [1000, 2000, 3000, 4000];

export type Chance = ReturnType<typeof chanceOf>;

export function chanceOf(seed: number) {
  let state = Math.imul(seed + 1, 2654435761) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  function pick<T>(all: readonly T[]): T {
    const one = all[below(all.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  }
  return { below, pick, yes: (share: number) => next() < share };
}

/** How often each class of leaves stands in a rule. */
export type Shares = Partial<Record<keyof typeof LEAVES, number>>;
export type Kind = { leaves: Shares; windows: number; nodes: number };

export function randomRule(chance: Chance, kind: Kind): RandomNode {
  let last = 0;
  return grow(kind.nodes > 20 ? 5 : 3, true);

  function grow(depth: number, mayForward: boolean): RandomNode {
    const id = ++last;
    const forward = mayForward && chance.yes(0.15) ? grow(0, false) : null;
    const place = { id, inverse: chance.yes(0.15), window: randomWindow(chance, kind), errorState: null, forward };
    if (depth === 0 || last >= kind.nodes) return { ...place, children: [], ...randomLeaf(chance, kind) };
    const children: RandomNode[] = [];
    for (let count = 1 + chance.below(4); count > 0; count--)
      children.push(grow(chance.yes(0.5) ? 0 : depth - 1, true));
    return { ...place, type: chance.pick(RELATIONS), leaf: null, children, settings: {} };
  }
}

function randomWindow(chance: Chance, { windows }: Kind): [number, number] | null {
  if (!chance.yes(windows)) return null;
  const [start, end] = [chance.below(3), 1 + chance.below(3)];
  return [TIMES[Math.min(start, end)] ?? 0, TIMES[Math.max(start, end)] ?? 0];
}

function randomLeaf(chance: Chance, { leaves }: Kind) {
  const found = chance.pick(inHundred(leaves));
  const errorState = found === 'Fails' && chance.yes(0.5) ? chance.below(3) : null;
  return { leaf: found, type: LEAVES[found], settings: randomSettings(chance, found), errorState };
}

/** A hundred leaves, of each class as many as its share. */
const inHundred = (shares: Shares): (keyof typeof LEAVES)[] =>
  Object.keys(LEAVES)
    .filter(isLeaf)
    .flatMap((name) => Array.from({ length: Math.round((shares[name] ?? 0) * 100) }, () => name));

const isLeaf = (name: string): name is keyof typeof LEAVES => Object.hasOwn(LEAVES, name);

function randomSettings(chance: Chance, leaf: keyof typeof LEAVES, key = chance.pick(KEYS)): Record<string, unknown> {
  switch (leaf) {
    case 'Compared': {
      const city = key === 'city';
      const is = city ? chance.pick(['=', '!=', 'in', 'not-in'] as const) : chance.pick(comparisons);
      const one = () => (city ? chance.pick(CITIES) : chance.below(12));
      return { key, is, to: is === 'in' || is === 'not-in' ? [one(), one()] : one(), without: chance.yes(0.4) };
    }
    case 'IsOdd':
      return { key: chance.pick(['a', 'b']) };
    case 'Fails':
      return { key: 'a', from: chance.below(12) };
    case 'Gives':
      return { key: `given${chance.below(3)}`, amount: chance.below(4), says: chance.yes(0.8) };
    case 'LooksUp':
      return { key, turns: chance.below(4) };
    case 'Sets':
      return { key: chance.pick(['c', 'd']), value: chance.below(12) };
  }
}

/** Every node of a rule, in tree order. */
export function nodesOf(root: RandomNode): RandomNode[] {
  return [root, ...(root.forward ? nodesOf(root.forward) : []), ...root.children.flatMap(nodesOf)];
}

/** The files of a rule. */
export function objectsOf(root: RandomNode): RuleObjects {
  const nodes = nodesOf(root).map(({ id, type, leaf, inverse, window, errorState, forward, children, settings }) => ({
    ...{ id, type: NUMBERS[type], inverse },
    ...(leaf && { confName: leaf, confField: leaf === 'Gives' ? { ...settings, node: id } : settings }),
    ...(window && { timeType: 7, start: window[0], end: window[1] }),
    ...(errorState !== null && { errorState }),
    ...(forward && { forwardId: forward.id }),
    ...(children.length > 0 && { sonIds: children.map((child) => child.id).join(',') }),
  }));
  return { rules: [{ id: 1, confId: root.id }], nodes };
}

/** The tree as the service tells it. `declares`: what `Compared` declares of its comparison. */
export function treeOf(node: RandomNode, declares: 'all' | 'nothing of missing' = 'all'): TreeNode {
  const { id, type, leaf, inverse, window, errorState, forward, children, settings } = node;
  const comparison = leaf === 'Compared' ? comparisonOf(settings, declares) : null;
  return {
    ...{ id: String(id), state: 'released', type, label: null, className: leaf, shortName: leaf, inverse },
    errorState: errorState === null ? null : String(errorState),
    timeWindow: window === null ? ALWAYS : windowOf(window),
    values: JSON.stringify(settings),
    settings: Object.entries(settings).map(([field, value]) => setting(field, value)),
    ...{ comparison, keys: keysOf(node), problems: [], circular: false },
    forward: forward && treeOf(forward, declares),
    children: children.map((child) => treeOf(child, declares)),
  };
}

const windowOf = ([start, end]: [number, number]): TimeWindow => ({
  type: 'between',
  start: String(start),
  end: String(end),
});

const setting = (field: string, value: unknown) => ({
  ...{ field, name: null, value: JSON.stringify(value), configured: true },
});

function comparisonOf({ key, is }: Record<string, unknown>, declares: 'all' | 'nothing of missing'): Comparison {
  const found = comparisons.find((one) => one === is);
  if (typeof key !== 'string' || found === undefined) throw new Error('no comparison');
  return { key, is: found, field: 'to', missing: declares === 'all' ? { setting: 'without' } : null };
}

function keysOf({ leaf, settings }: RandomNode): TreeNode['keys'] {
  const { key } = settings;
  if (leaf === null || typeof key !== 'string') return [];
  const direction = leaf === 'Gives' || leaf === 'Sets' ? 'write' : 'read';
  return [{ key, direction, dynamic: false, nested: false, valueType: key === 'city' ? 'String' : 'Double' }];
}

/** The same rule with one change: of a setting, a relation, a child, a condition, a window, an inversion. Nodes keep their ids. */
export function changedRule(rule: RandomNode, chance: Chance): RandomNode {
  const changed = structuredClone(rule);
  const nodes = nodesOf(changed);
  const node = chance.pick(nodes);
  const added = {
    ...{ id: Math.max(...nodes.map(({ id }) => id)) + 1, inverse: false, window: null, forward: null, children: [] },
  };
  const fresh = () => ({
    ...added,
    ...randomLeaf(chance, { leaves: { Compared: 0.5, Gives: 0.5 }, windows: 0, nodes: 0 }),
  });
  switch (chance.pick(['inside', 'inside', 'inside', 'window', 'inverse', 'forward'])) {
    case 'window':
      node.window = node.window ? null : randomWindow(chance, { leaves: {}, windows: 1, nodes: 0 });
      return changed;
    case 'inverse':
      node.inverse = !node.inverse;
      return changed;
    case 'forward':
      node.forward = node.forward ? null : fresh();
      return changed;
    default:
      if (node.leaf === null) changeRelation(node, chance, fresh);
      else
        node.settings = randomSettings(
          chance,
          node.leaf,
          KEYS.find((key) => key === node.settings.key),
        );
      return changed;
  }
}

function changeRelation(node: RandomNode, chance: Chance, fresh: () => RandomNode): void {
  const { children } = node;
  switch (chance.pick(['type', 'type', 'added', 'removed', 'order'])) {
    case 'type':
      node.type = chance.pick(RELATIONS);
      return;
    case 'added':
      children.splice(chance.below(children.length + 1), 0, fresh());
      return;
    case 'removed':
      children.splice(chance.below(children.length), 1);
      return;
    case 'order':
      children.reverse();
  }
}

export type Input = Record<string, number | string | null>;

/** `gaps`: the share of keys that have no value. */
export function randomInput(chance: Chance, gaps: number): Input {
  const given = KEYS.filter(() => !chance.yes(gaps));
  return Object.fromEntries(given.map((key) => [key, key === 'city' ? chance.pick(CITIES) : chance.below(12)]));
}
