/** How a node combines its children, or which of the three leaf methods it runs. */
export type NodeType = { number: bigint | null; name: NodeTypeName; leaf: boolean };

export type NodeTypeName =
  | 'None'
  | 'And'
  | 'True'
  | 'All'
  | 'Any'
  | 'LeafFlow'
  | 'LeafResult'
  | 'LeafNone'
  | 'P-None'
  | 'P-And'
  | 'P-True'
  | 'P-All'
  | 'P-Any'
  | 'Unknown';

/** By the number written in a node's file; relations are named as clients name them in their traces. */
const names: readonly NodeTypeName[] = [
  'None',
  'And',
  'True',
  'All',
  'Any',
  'LeafFlow',
  'LeafResult',
  'LeafNone',
  'P-None',
  'P-And',
  'P-True',
  'P-All',
  'P-Any',
];

const numbers = new Map<string, number>(names.map((name, number) => [name, number]));

/** The number that a node's file has for a type. */
export const numberOfType = (name: string): number => numbers.get(name) ?? -1;

/** The type a number stands for; `Unknown` for a number that no client knows, and for a missing one. */
export function nodeTypeOf(number: bigint | null): NodeType {
  const name = (number === null ? undefined : names[Number(number)]) ?? 'Unknown';
  return { number, name, leaf: name.startsWith('Leaf') };
}
