import { faultBody } from '../../../shared/contract/rules-and-clients.ts';
import { digestOfRules } from '../../../shared/rules/digest.ts';
import { isDeleted, type RuleNode } from '../../../shared/rules/node-file.ts';
import type { Reading, Unreadable } from '../../../shared/rules/reading.ts';
import type { Rule } from '../../../shared/rules/rule-file.ts';
import { inOrder } from '../../../shared/rules/walk.ts';

const MAX_NODES = 20_000;
const MAX_EDGES = 100_000;
const BATCH = 256;

/** A rule and the folder below `bases` that it stands in ('' = `bases` itself). */
export type PlacedRule = Rule & { folder: string };

/** A rule as answers show it: with the files beside its own among its problems. */
export const shownRule = ({ rivals, problems, ...rule }: PlacedRule) => ({
  ...rule,
  problems: [...rivals, ...problems].map(faultBody),
});

/** The tree to walk: a rule, a node, or (both) the sub-tree of a node inside a rule. */
export type Selection = { app: number; ruleId: bigint | null; confId: bigint | null };

/** Every node a walk can meet, by id, with what came of reading it. */
type NodeReadings = ReadonlyMap<bigint, Reading<RuleNode>>;

/**
 * The nodes that a selection reaches, or why there are none. `start` is where to walk from, null for a rule without a
 * root; `truncated`: there are more nodes than one answer may hold.
 */
export type RuleGraph =
  | { kind: 'graph'; rule: PlacedRule | null; start: bigint | null; nodes: NodeReadings; truncated: boolean }
  | { kind: 'no-rules' }
  | { kind: 'unknown-rule' }
  | { kind: 'unknown-node' }
  | { kind: 'not-in-rule' }
  | ({ kind: 'unusable'; of: { ruleId: string } | { confId: string } } & Pick<Unreadable, 'fault'>);

type ReadNode = (confId: bigint) => Promise<Reading<RuleNode>>;
/** Where rules and nodes are read. */
export type GraphSources = {
  readRule: (app: number, ruleId: bigint) => Promise<Reading<PlacedRule>>;
  nodesOf: (app: number) => Promise<ReadNode>;
  hasConfiguration: (app: number) => Promise<boolean>;
};

/** Reads the nodes of a selection. With both ids these are the whole rule's, and only the start is the node's. */
export async function readGraph({ app, ruleId, confId }: Selection, sources: GraphSources): Promise<RuleGraph> {
  const unknown = async (kind: 'unknown-rule' | 'unknown-node'): Promise<RuleGraph> => ({
    kind: (await sources.hasConfiguration(app)) ? kind : 'no-rules',
  });
  const rule = ruleId === null ? null : await sources.readRule(app, ruleId);
  if (rule?.kind === 'absent') return unknown('unknown-rule');
  if (rule?.kind === 'unusable') return { ...rule, of: { ruleId: `${ruleId}` } };
  const readNode = await sources.nodesOf(app);
  const placed = rule?.value ?? null;
  const root = placed ? placed.confId : confId;
  const graph = await readNodes(root, readNode);
  if (confId === null) return { kind: 'graph', rule: placed, start: root, ...graph };
  const node = graph.nodes.get(confId) ?? (await readNode(confId));
  if (node.kind === 'absent') return unknown('unknown-node');
  if (node.kind === 'unusable') return { ...node, of: { confId: `${confId}` } };
  return graph.nodes.has(confId) ? { kind: 'graph', rule: placed, start: confId, ...graph } : { kind: 'not-in-rule' };
}

/** Batch by batch, each in parallel: a node's children are known only once it was read. */
async function readNodes(root: bigint | null, readNode: ReadNode) {
  const nodes = new Map<bigint, Reading<RuleNode>>();
  const waiting = root === null ? [] : [root];
  const seen = new Set(waiting);
  let edges = 0;
  while (waiting.length > 0 && nodes.size < MAX_NODES && edges < MAX_EDGES) {
    const batch = waiting.splice(0, BATCH);
    const readings = await Promise.all(batch.map(async (id) => ({ id, reading: await readNode(id) })));
    for (const { id, reading } of readings) {
      nodes.set(id, reading);
      for (const edge of edgesIn(nodes)(id)) {
        edges++;
        if (!seen.has(edge)) waiting.push(edge);
        seen.add(edge);
      }
    }
  }
  return { nodes, truncated: waiting.length > 0 };
}

/** A node of a graph; undefined where there is none that can be read. */
function nodeIn(nodes: NodeReadings, id: bigint): RuleNode | undefined {
  const reading = nodes.get(id);
  return reading?.kind === 'found' ? reading.value : undefined;
}

/** What stands below a node; nothing below one that cannot be read. */
export function belowOf(nodes: NodeReadings, id: bigint): Pick<RuleNode, 'forwardId' | 'sonIds'> {
  const { forwardId = null, sonIds = [] } = nodeIn(nodes, id) ?? {};
  return { forwardId, sonIds };
}

/** The nodes that a client goes to from a node, in its order: the forward condition, then the children. */
export const edgesIn = (nodes: NodeReadings) => (id: bigint) => {
  const { forwardId, sonIds } = belowOf(nodes, id);
  return forwardId === null ? sonIds : [forwardId, ...sonIds];
};

/** The nodes of a graph in the order they take part, each once. */
export const releasedOrder = (nodes: NodeReadings, start: bigint): bigint[] =>
  inOrder(start, (id) => nodeIn(nodes, id));

/** The digest of a rule or node with all that it reaches; null where there is nothing to walk. */
export function digestOf(graph: RuleGraph): string | null {
  if (graph.kind !== 'graph' || graph.start === null || graph.truncated) return null;
  const { rule, start, nodes } = graph;
  const nodeOf = (id: bigint) => {
    const node = nodeIn(nodes, id);
    if (node !== undefined && !isDeleted(node)) return node;
    return nodes.get(id)?.kind === 'unusable' ? 'unusable' : 'absent';
  };
  const first = nodeIn(nodes, start);
  return first !== undefined && isDeleted(first) ? null : digestOfRules({ rule, start, nodeOf });
}

/** How many nodes a client visits at most, shared nodes each time they occur. Only for nodes without a cycle. */
export function countOccurrences(nodes: NodeReadings, start: bigint): number {
  const counts = new Map<bigint, number>();
  const steps = [{ id: start, arrived: false }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    if (counts.has(step.id)) continue;
    const edges = edgesIn(nodes)(step.id);
    if (!step.arrived) steps.push({ id: step.id, arrived: true }, ...edges.map((id) => ({ id, arrived: false })));
    else
      counts.set(
        step.id,
        edges.map((id) => counts.get(id) ?? 0).reduce((sum, count) => sum + count, 1),
      );
  }
  return counts.get(start) ?? 0;
}
