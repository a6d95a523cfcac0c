import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { ExecutionRecord, Warning } from '../api/executions.ts';
import type { Say } from './use-text.tsx';

type About = { record: ExecutionRecord; occurrences: readonly Occurrence[] };

/** A warning in the reader's language; one that this page does not know keeps the service's own sentence. */
export function warningWords({ code, message, nodeId }: Warning, { record, occurrences }: About, say: Say): string {
  const { app, ruleId, address } = record;
  const node = nodeId ?? '';
  switch (code) {
    case 'unknown-rule':
      return say('warning.unknown-rule', { app, rule: ruleId ?? '' });
    case 'unknown-node':
      if (ruleId === null) return say('warning.unknown-node', { app, node });
      return say('warning.unknown-node.rule', { node, rule: ruleId });
    case 'missing-node':
      return say('warning.missing-node', { node });
    case 'missing-leaf-class': {
      const name = occurrences.find((place) => place.node.id === nodeId)?.node.className;
      return name ? say('warning.missing-leaf-class', { name, node }) : message;
    }
    case 'precision': {
      const [number] = /\d{16,}/.exec(message) ?? [];
      return number ? say('warning.precision', { client: address ?? '', number }) : message;
    }
    case 'no-reason':
      return say('warning.no-reason', { client: address ?? '' });
    case 'not-checked':
      return say('warning.not-checked');
    default:
      return message;
  }
}
