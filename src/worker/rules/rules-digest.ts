import { createHash } from 'node:crypto';
import { stringifyExact } from '../../shared/contract/raw-number.ts';
import { releasedOrder } from './graph-walks.ts';
import type { RuleGraph } from './rule-graph.ts';

/** The same for the same rule and nodes, whenever their files were written; null where there is nothing to walk. */
export function digestOf(graph: RuleGraph): string | null {
  if (graph.kind !== 'graph' || graph.start === null || graph.truncated) return null;
  const { rule, start, nodes } = graph;
  const about = rule && { id: rule.id, name: rule.name, status: rule.status, timeWindow: rule.timeWindow };
  const hash = createHash('sha256').update(stringifyExact({ rule: about, start }));
  for (const id of releasedOrder(nodes, start)) {
    const reading = nodes.get(id);
    hash.update(`${id} ${reading?.kind === 'found' ? reading.value.digest : reading?.kind}\n`);
  }
  return hash.digest('base64url').slice(0, 22);
}
