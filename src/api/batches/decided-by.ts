import type { Batch, ItemHead } from '../../shared/cases/batch.ts';
import { parseExact } from '../../shared/contract/exact-json.ts';
import { field } from '../../shared/contract/read-exact.ts';
import { decidedBy, type NamedNode } from '../../shared/reasoning/decided-by.ts';
import { readNode } from '../../shared/reasoning/read-node.ts';
import { type Occurrence, occurrencesOf } from '../../shared/reasoning/tree.ts';
import type { BatchStore } from '../../shared/store/batch-store.ts';
import { type Trees, treeKey } from '../../shared/store/trees.ts';

type Sources = { store: BatchStore; trees: Trees };
type DecidedBy = (n: number, head: ItemHead) => Promise<NamedNode | null>;

/**
 * Tells which node decided each item of a batch, by the tree of the rules that it ran on. Null for an item whose tree is not kept, of which
 * it is not sure on which rules it ran, or whose trace does not say.
 */
export function decidedByIn({ app, batchId }: Batch, { store, trees }: Sources): DecidedBy {
  const read = new Map<string, Promise<readonly Occurrence[]>>();
  const treeOf = (digest: string) => {
    const tree = read.get(digest) ?? trees.get(treeKey(app, digest)).then(occurrencesIn);
    read.set(digest, tree);
    return tree;
  };
  return async (n, { rules, outcome }) => {
    if (outcome === null || !rules?.digest || rules.unsure || rules.about) return null;
    const occurrences = await treeOf(rules.digest);
    const nodes = occurrences.length === 0 ? null : (await store.detail(batchId, n))?.nodes;
    return nodes ? decidedBy(occurrences, nodes) : null;
  };
}

function occurrencesIn(tree: string | null): readonly Occurrence[] {
  const root = tree === null ? undefined : field(parseExact(tree), 'root');
  return root ? occurrencesOf(readNode(root)) : [];
}
