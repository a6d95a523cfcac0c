import type { NodeKey } from './leaf-keys.ts';
import type { ValueType } from './leaf-nodes.ts';

/** One key of the input data across a whole tree: which nodes read it and which may write it, in tree order. */
export type KeyUse = {
  key: string;
  valueType: ValueType;
  dynamic: boolean;
  nested: boolean;
  readers: bigint[];
  writers: bigint[];
};

/** Collects the keys of nodes given in tree order; each node counts once per key. */
export function keyUsesOf(nodes: Iterable<{ id: bigint; keys: readonly NodeKey[] }>): KeyUse[] {
  const uses = new Map<string, KeyUse>();
  for (const { id, keys } of nodes) {
    for (const { key, direction, valueType, dynamic, nested } of keys) {
      const use = uses.get(key) ?? { key, valueType, dynamic, nested, readers: [], writers: [] };
      uses.set(key, use);
      if (direction !== 'write' && use.readers.at(-1) !== id) use.readers.push(id);
      if (direction !== 'read' && use.writers.at(-1) !== id) use.writers.push(id);
    }
  }
  return [...uses.values()];
}
