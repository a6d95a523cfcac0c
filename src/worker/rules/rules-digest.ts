import { digestOfRules } from '../../shared/contract/rules-digest.ts';
import { sidesOf } from './config-fields.ts';
import type { RuleNode } from './node-file.ts';
import { foundIn } from './tree/graph-walks.ts';
import type { RuleGraph } from './tree/rule-graph.ts';

/** The digest of a rule or node with all that it reaches; null where there is nothing to walk. */
export function digestOf(graph: RuleGraph): string | null {
  if (graph.kind !== 'graph' || graph.start === null || graph.truncated) return null;
  const { rule, start, nodes } = graph;
  const released = (id: bigint): RuleNode | undefined => {
    const node = foundIn(nodes, id);
    return node?.isDeleted ? undefined : node;
  };
  if (foundIn(nodes, start)?.isDeleted) return null;
  const missing = (id: bigint) => (nodes.get(id)?.kind === 'unusable' ? 'unusable' : 'absent');
  return digestOfRules({
    rule: rule && { ...rule, window: sidesOf(rule.timeWindow) },
    start,
    below: released,
    digestOf: (id) => released(id)?.digest ?? missing(id),
  });
}
