import type { NodeKey } from '../../../shared/contract/rules-and-clients.ts';
import { nodeNameOf } from '../../../shared/rules/node-file.ts';
import { detailsOf, type NodeDetails } from '../node-details.ts';
import type { Rules } from '../rules.ts';
import { releasedOrder, type Selection } from '../tree/rule-graph.ts';
import { createLeafMetadata, type MetadataFor, type Wanted } from './leaf-metadata.ts';

type Named = { nodeId: bigint; nodeName: string };
/** One input key that a rule reads, the first node that reads it, and all of them. Print with `stringifyExact`: ids are int64. */
type SchemaField = Named &
  Pick<NodeKey, 'key' | 'valueType'> & { nodes: (Named & Pick<NodeDetails, 'settings' | 'comparison'>)[] };

type Sources = { rules: Pick<Rules, 'readGraph'>; metadataFor: MetadataFor };

/**
 * The input keys that a selection's leaf nodes read, in tree order, each once. An app without readable rules or metadata
 * has no fields; `incomplete` are nodes that may read more keys; `fallback` is true when a wanted client is not online and another's metadata was used.
 */
export async function readSchema(query: Selection & Wanted, { rules, metadataFor }: Sources) {
  const [graph, registrations] = await Promise.all([rules.readGraph(query), metadataFor(query.app)]);
  if (graph.kind === 'no-rules' || graph.kind === 'unusable')
    return { kind: 'schema' as const, fields: [], fallback: false };
  if (graph.kind !== 'graph') return graph;
  const metadata = createLeafMetadata(registrations, query);
  const fields = new Map<string, SchemaField>();
  const incomplete: bigint[] = [];
  for (const nodeId of graph.start === null ? [] : releasedOrder(graph.nodes, graph.start)) {
    const reading = graph.nodes.get(nodeId);
    if (reading?.kind !== 'found') continue;
    if (metadata.leafOf(reading.value)?.incomplete) incomplete.push(nodeId);
    const { settings, comparison, keys } = detailsOf(nodeId, reading, metadata);
    const node = { nodeId, nodeName: nodeNameOf(reading.value), settings, comparison };
    for (const { key, direction, valueType } of keys) {
      if (direction === 'write') continue;
      const field = fields.get(key) ?? { key, valueType, nodeId, nodeName: node.nodeName, nodes: [] };
      if (field.nodes.at(-1) !== node) field.nodes.push(node);
      fields.set(key, field);
    }
  }
  const found = { fields: [...fields.values()], ...(incomplete.length > 0 && { incomplete }) };
  return { kind: 'schema' as const, ...found, fallback: metadata.fellBack() };
}
