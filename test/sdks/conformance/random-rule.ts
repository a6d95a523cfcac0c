/** A node as its file says it; `errorState` may be a word, because every SDK has numbers of its own for it. */
export type RandomNode = {
  id: number;
  type: number;
  sonIds?: string;
  confName?: string;
  confField?: string;
  forwardId?: number;
  inverse?: boolean;
  timeType?: number;
  start?: number;
  end?: number;
  errorState?: 'FALSE' | 'TRUE' | 'NONE' | number;
};
export type RandomRule = { id: number; root: number; nodes: RandomNode[] };

/** The time every random rule is run as of, and its windows lie around. */
export const AS_OF = 1_700_000_000_000;
/** The data every random rule is run with. */
export const INPUT = '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age","list":[1,2]}';

const SERIAL = [0, 1, 1, 1, 2, 3, 4, 4];
const PARALLEL = [8, 9, 10, 11, 12];
const MAX_DEPTH = 4;

/** Numbers from 0 up to 1 that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A random rule of relations, leaves, forward conditions, inversions, time windows, errors and nodes in several places. Below
 * a parallel node stands nothing that writes or fails: what becomes of that, SDKs do not agree on. Nor another parallel node:
 * the Python SDK has one thread per core for them and stands still when these wait for each other.
 */
export function randomRule(id: number, random: () => number): RandomRule {
  const nodes: RandomNode[] = [];
  const shareable: number[] = [];
  const pick = <T>(list: readonly T[]): T => {
    const found = list[Math.floor(random() * list.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  };
  const chance = (probability: number) => random() < probability;

  function add(node: Omit<RandomNode, 'id'>): number {
    const nodeId = id * 1000 + nodes.length + 1;
    nodes.push({ id: nodeId, ...node });
    return nodeId;
  }

  function around(depth: number, pure: boolean): Omit<RandomNode, 'id' | 'type'> {
    return {
      ...(chance(0.2) ? { inverse: true } : {}),
      ...(depth > 0 && chance(0.2) ? { forwardId: subtree(depth - 1, pure) } : {}),
      ...(chance(0.2) ? window() : {}),
      ...(chance(0.15) ? { errorState: pick(['FALSE', 'TRUE', 'NONE'] as const) } : {}),
    };
  }

  function window(): Pick<RandomNode, 'timeType' | 'start' | 'end'> {
    const start = AS_OF + pick([-2000, -1, 0, 1]);
    return { timeType: pick([1, 5, 6, 7, 99]), start, end: start + pick([0, 1, 1000, 3000]) };
  }

  function subtree(depth: number, pure: boolean): number {
    if (!pure && shareable.length > 0 && chance(0.08)) return pick(shareable);
    const nodeId = depth === 0 || chance(0.25) ? leaf(depth, pure) : relation(depth, pure);
    if (!pure) shareable.push(nodeId);
    return nodeId;
  }

  function relation(depth: number, pure: boolean): number {
    const parallel = !pure && chance(0.15);
    const count = parallel ? pick([0, 2, 3]) : pick([0, 1, 2, 2, 3, 4]);
    const sonIds = Array.from({ length: count }, () => subtree(depth - 1, pure || parallel)).join(',');
    return add({ type: pick(parallel ? PARALLEL : SERIAL), sonIds, ...around(depth, pure || parallel) });
  }

  function leaf(depth: number, pure: boolean): number {
    const [confName, type, confField] = pick(pure ? pureLeaves : leaves)(random);
    return add({ type, confName: `com.sample.${confName}`, confField, ...around(depth, pure) });
  }

  const root = relation(MAX_DEPTH, false);
  return { id, root, nodes };
}

type Leaf = (random: () => number) => [confName: string, type: number, confField: string];

const pureLeaves: Leaf[] = [
  (random) => ['AgeFlow', 5, `{"min":${Math.floor(random() * 40)}}`],
  (random) => ['ScoreFlow', 5, `{"score":${Math.floor(random() * 150)},"key":"score"}`],
  (random) => ['ScoreFlow', 5, `{"score":${Math.floor(random() * 4)},"key":"vip.level"}`],
  () => ['UidFlow', 5, '{}'],
];

const leaves: Leaf[] = [
  ...pureLeaves,
  ...pureLeaves,
  (random) => ['AmountResult', 6, `{"prefix":"p${Math.floor(random() * 3)}_","amount":${Math.floor(random() * 9)}}`],
  () => ['ProbeNone', 7, '{"key":"score"}'],
  () => ['DerivedNone', 7, '{}'],
  (random) => ['UnionNone', 7, random() < 0.5 ? '{"expr":"@vip.level"}' : '{"expr":"text"}'],
  () => ['BoomFlow', 5, '{"text":"kaboom"}'],
];
