import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { sureDigest } from '../../shared/contract/rules-of-run.ts';
import { readAs } from '../../shared/contract/wire.ts';
import { decidedBy, type NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { type Occurrence, occurrencesOf } from '../../shared/reasoning/tree.ts';
import { treeKey } from '../../shared/store/history/trees.ts';

type Ran = Pick<ExecutionRecord, 'app' | 'rules'>;
/** The states of each node in a trace; null if it has none. */
type Nodes = Readonly<Record<string, readonly string[]>> | null;

/**
 * Finds the node that decided a run, by the tree of the rules that it ran on; each tree is read once. Null if the tree is not kept, the rules of the
 * run are unsure, or its trace does not say.
 */
export function createDecidedBy(readTree: (ran: Ran) => Promise<string | null>) {
  const read = new Map<string, Promise<readonly Occurrence[]>>();
  return async (ran: Ran, nodes: Nodes): Promise<NamedNode | null> => {
    const digest = sureDigest(ran.rules);
    if (nodes === null || digest === null) return null;
    const key = treeKey(ran.app, digest);
    const tree = read.get(key) ?? readTree(ran).then(occurrencesIn);
    read.set(key, tree);
    const occurrences = await tree;
    return occurrences.length > 0 ? decidedBy(occurrences, nodes) : null;
  };
}

function occurrencesIn(tree: string | null): readonly Occurrence[] {
  const root = tree === null ? null : readAs(treeSchema, tree).root;
  return root ? occurrencesOf(root) : [];
}
