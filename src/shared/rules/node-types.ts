/** By the number written in a node's file; relations are named as clients name them in their traces. */
const names = [
  ...(['None', 'And', 'True', 'All', 'Any', 'LeafFlow', 'LeafResult', 'LeafNone'] as const),
  ...(['P-None', 'P-And', 'P-True', 'P-All', 'P-Any'] as const),
];

export type NodeTypeName = (typeof names)[number] | 'Unknown';

/** How a node combines its children, or which of the three leaf methods it runs. */
type NodeType = { number: bigint | null; name: NodeTypeName; leaf: boolean };

/** The number that a node's file has for a type; -1 for what is none. */
export const numberOfType = (name: string): number => names.findIndex((each) => each === name);

/** The type a number stands for; `Unknown` for a number that no client knows, and for a missing one. */
export function nodeTypeOf(number: bigint | null): NodeType {
  const name = (number === null ? undefined : names[Number(number)]) ?? 'Unknown';
  return { number, name, leaf: name.startsWith('Leaf') };
}
