import { nodeNameOf } from '../../../shared/rules/node-file.ts';
import type { Rules } from '../rules.ts';
import { releasedOrder } from '../tree/graph-walks.ts';
import type { Selection } from '../tree/rule-graph.ts';
import { keysOf } from './leaf-keys.ts';
import type { MetadataFor, Wanted } from './leaf-metadata.ts';
import { createLeafMetadata } from './leaf-metadata.ts';
import type { Comparison, ValueType } from './leaf-nodes.ts';
import type { LeafSetting } from './leaf-settings.ts';
import { settingsOf } from './leaf-settings.ts';

type SchemaNode = {
  nodeId: bigint;
  nodeName: string;
  settings: LeafSetting[];
  /** How it decides by its settings, when its client declares that. */
  comparison: Comparison | null;
};
/** One input key that a rule reads, the first node that reads it, and all of them. Print with `stringifyExact`: ids are int64. */
type SchemaField = Pick<SchemaNode, 'nodeId' | 'nodeName'> & { key: string; valueType: ValueType; nodes: SchemaNode[] };

/** The form schema, or which id the app's rules do not have. */
type SchemaAnswer =
  | { kind: 'schema'; fields: SchemaField[]; incomplete?: bigint[]; fallback: boolean }
  | { kind: 'unknown-rule' }
  | { kind: 'unknown-node' }
  | { kind: 'not-in-rule' };

type Sources = { rules: Pick<Rules, 'readGraph'>; metadataFor: MetadataFor };

/**
 * The input keys that a selection's leaf nodes read, in tree order, each once. An app without readable rules or metadata
 * has no fields; `incomplete` are nodes that may read more keys; `fallback` is true when a wanted client is not online and another's metadata was used.
 */
export async function readSchema(query: Selection & Wanted, { rules, metadataFor }: Sources): Promise<SchemaAnswer> {
  const [graph, registrations] = await Promise.all([rules.readGraph(query), metadataFor(query.app)]);
  if (graph.kind === 'no-rules' || graph.kind === 'unusable') return { kind: 'schema', fields: [], fallback: false };
  if (graph.kind !== 'graph') return graph;
  const metadata = createLeafMetadata(registrations, query);
  const fields = new Map<string, SchemaField>();
  const incomplete: bigint[] = [];
  for (const nodeId of graph.start === null ? [] : releasedOrder(graph.nodes, graph.start)) {
    const reading = graph.nodes.get(nodeId);
    const leaf = reading?.kind === 'found' ? metadata.leafOf(reading.value) : null;
    if (reading?.kind !== 'found' || leaf === null) continue;
    if (leaf.incomplete) incomplete.push(nodeId);
    const [nodeName, settings] = [nodeNameOf(reading.value), settingsOf(leaf, reading.value.values)];
    const node = { nodeId, nodeName, settings, comparison: leaf.comparison };
    for (const { key, direction, valueType } of keysOf(leaf, reading.value.values)) {
      if (direction === 'write') continue;
      const field = fields.get(key) ?? { key, valueType, nodeId, nodeName, nodes: [] };
      if (field.nodes.at(-1) !== node) field.nodes.push(node);
      fields.set(key, field);
    }
  }
  const found = { fields: [...fields.values()], ...(incomplete.length > 0 && { incomplete }) };
  return { kind: 'schema', ...found, fallback: metadata.fellBack() };
}
