import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import { pathOfKey } from '../../shared/reasoning/key-path.ts';
import type { TreeNode } from '../../shared/reasoning/tree.ts';
import type { Schema, Tree } from '../api/browse.ts';
import { setAt } from '../json/edit-json.ts';
import { kindOfType } from '../json/form-value.ts';

/**
 * An input to begin with: each key the rule reads, with a value taken from the settings of the node that reads it (its
 * threshold, the first of its list), so that the first run shows something.
 */
export function exampleInput(schema: Schema, tree: Tree | null): string {
  let text = '{}';
  for (const { key, valueType, nodeId } of schema.fields) {
    const use = tree?.keys.find((candidate) => candidate.key === key);
    if (use?.dynamic || key.includes('${')) continue;
    const node = tree?.root ? findNode(tree.root, nodeId) : null;
    // An inverted node wants what it is not set to, and a step compares nothing with its settings.
    const compares = node !== null && !node.inverse && node.type !== 'LeafNone';
    const raw = exampleValue(valueType, { key, settings: compares ? settingsOf(node) : [] });
    if (raw !== null) text = setAt(text, pathOfKey(key, use?.nested ?? false), raw);
  }
  return text;
}

function exampleValue(valueType: string, { key, settings }: { key: string; settings: Json[] }): string | null {
  const number = settings.find((value) => value.kind === 'number');
  const whole = settings.find((value) => value.kind === 'number' && /^\d+$/.test(value.text));
  const word = settings.find((value) => value.kind === 'string' && value.value !== key && value.value !== '');
  switch (kindOfType(valueType)) {
    case 'int64':
      return whole ? compactJson(whole) : '1';
    case 'decimal':
      return number ? compactJson(number) : '1.5';
    case 'text':
      return word ? compactJson(word) : '"text"';
    case 'yes-no':
      return 'true';
    case 'json':
      return valueType === 'List' ? '[]' : '{}';
    default:
      return number ? compactJson(number) : word ? compactJson(word) : null;
  }
}

/** The configured values of a node, lists opened up. */
function settingsOf({ values }: TreeNode): Json[] {
  const read = readJson(values);
  if (read.kind === 'bad' || read.root.kind !== 'object') return [];
  return read.root.members.flatMap(({ value }) => (value.kind === 'array' ? value.items : [value]));
}

function findNode(node: TreeNode, id: string): TreeNode | null {
  if (node.id === id) return node;
  for (const child of node.forward ? [node.forward, ...node.children] : node.children) {
    const found = findNode(child, id);
    if (found) return found;
  }
  return null;
}
