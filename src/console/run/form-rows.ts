import type { Json } from '../../shared/json-tree/read-json.ts';
import { valueAt } from '../../shared/json-tree/value-at.ts';
import { pathOfKey } from '../../shared/reasoning/key-path.ts';
import type { KeyUse, Schema, Tree } from '../api/browse.ts';

/** One row of the form: a key the rule reads, or one the input has and nobody reads. */
export type FormRow = {
  key: string;
  path: string[];
  valueType: string | null;
  readers: { id: string; name: string }[];
  value: Json | null;
  /** The name of a value on the way that is no object, so that the key has no place. */
  inTheWay: string | null;
};

/** The rows: what the rule reads in tree order, then what else the input has. Keys only known at run time are `dynamic`. */
export function formRows(root: Json, schema: Schema, tree: Tree | null): { rows: FormRow[]; dynamic: string[] } {
  const uses = new Map(tree?.keys.map((use) => [use.key, use]));
  const names = namesOf(schema);
  const dynamic: string[] = [];
  const rows: FormRow[] = [];
  for (const { key, valueType, nodeId } of schema.fields) {
    const use = uses.get(key);
    if (use?.dynamic || key.includes('${')) {
      dynamic.push(key);
      continue;
    }
    const path = pathOfKey(key, use?.nested ?? false);
    const readers = readersOf(use, nodeId).map((id) => ({ id, name: names.get(id) ?? '' }));
    rows.push({ key, path, valueType, readers, value: valueAt(root, path) ?? null, inTheWay: obstacle(root, path) });
  }
  return { rows: [...rows, ...othersOf(root, rows)], dynamic };
}

function readersOf(use: KeyUse | undefined, nodeId: string): string[] {
  const others = use?.readers.filter((id) => id !== nodeId) ?? [];
  return [nodeId, ...others];
}

function namesOf({ fields }: Schema): Map<string, string> {
  return new Map(fields.map(({ nodeId, nodeName }) => [nodeId, nodeName]));
}

function othersOf(root: Json, rows: FormRow[]): FormRow[] {
  if (root.kind !== 'object') return [];
  const known = new Set(rows.map(({ path }) => path[0]));
  return root.members
    .filter(({ key }) => !known.has(key))
    .map(({ key, value }) => ({ key, path: [key], valueType: null, readers: [], value, inTheWay: null }));
}

function obstacle(root: Json, path: string[]): string | null {
  for (let depth = 1; depth < path.length; depth++) {
    const above = valueAt(root, path.slice(0, depth));
    if (above && above.kind !== 'object' && above.kind !== 'array') return path.slice(0, depth).join('.');
  }
  return null;
}
