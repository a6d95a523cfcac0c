import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import { valueAt } from '../../shared/json-tree/value-at.ts';
import { pathOfKey } from '../../shared/reasoning/key-path.ts';
import type { NodeTrace } from '../../shared/reasoning/trace/node-trace.ts';
import type { Occurrence, TreeNode } from '../../shared/reasoning/tree.ts';
import type { SmallestChange } from '../../shared/reasoning/what-if/smallest-change.ts';
import type { KeyUse, Schema, Tree } from '../api/browse.ts';
import { type Change, diffJson } from '../json/diff-json.ts';
import { setAt } from '../json/edit-json.ts';
import { kindOfType } from '../json/form-value.ts';

/** A run, or the run that the form would make. `input` null: it is not known, or it is no JSON. */
type Asked = { input: Json | null; ts: string | null; target: string };

/** One way in which the form is not what the run on the screen was. */
export type FormChange =
  | { kind: 'value'; change: Change }
  | { kind: 'unreadable' }
  | { kind: 'as-of'; before: string | null; after: string | null }
  | { kind: 'target'; before: string; after: string };

/** The changes of the form since a run; empty as long as the run on the screen is the run of the form. */
export function changesSince(run: Asked, form: Asked): FormChange[] {
  const changes: FormChange[] = [];
  if (form.input === null) changes.push({ kind: 'unreadable' });
  else if (run.input !== null) {
    for (const change of diffJson(run.input, form.input).changes)
      if (change.kind !== 'same') changes.push({ kind: 'value', change });
  }
  if (run.ts !== form.ts) changes.push({ kind: 'as-of', before: run.ts, after: form.ts });
  if (!sameTarget(run.target, form.target)) changes.push({ kind: 'target', before: run.target, after: form.target });
  return changes;
}

/** A run of "all, compare" went to one client: it is one of the runs that the form would begin. */
function sameTarget(run: string, form: string): boolean {
  return run === form || (form === 'each' && run.startsWith('address:'));
}

/** An input with a change made. */
export function withChange(input: string, { changes }: SmallestChange): string {
  return changes.reduce((text, { path, after }) => setAt(text, path, after), input);
}

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

/** Nodes that wrote a path: for certain by the structured trace, else those that may have by what is known of their classes. */
type Writers = { ids: string[]; certain: boolean };

/** The possible writers of a path such as `vip.level` or `items[2].price`. */
export function writersOf(path: string, tree: Tree | null, nodeTraces: ReadonlyMap<Occurrence, NodeTrace>): Writers {
  const seen = new Set<string>();
  for (const [{ node }, nodeTrace] of nodeTraces) {
    if (nodeTrace.writes.some(({ key }) => touches(key, path))) seen.add(node.id);
  }
  if (seen.size > 0) return { ids: [...seen], certain: true };
  const ran = new Set([...nodeTraces.keys()].map(({ node }) => node.id));
  const uses = tree?.keys.filter(({ key, writers }) => writers.length > 0 && mayTouch(key, path)) ?? [];
  const ids = [...new Set(uses.flatMap(({ writers }) => writers))];
  const executed = ids.filter((id) => ran.has(id));
  return { ids: executed.length > 0 ? executed : ids, certain: false };
}

/** Keys of the input that nobody reads, and keys that are read and not in the input. */
export function unusedAndMissing(input: Json, tree: Tree): { unread: string[]; missing: KeyUse[] } {
  const read = tree.keys.filter(({ readers }) => readers.length > 0);
  const sent = input.kind === 'object' ? input.members.map(({ key }) => key) : [];
  const anyDynamic = read.some(({ dynamic }) => dynamic);
  const unread = anyDynamic
    ? []
    : sent.filter((key) => !read.some((use) => use.key === key || use.key.startsWith(`${key}.`)));
  const missing = read.filter(
    ({ key, nested, dynamic }) => !dynamic && valueAt(input, pathOfKey(key, nested)) === undefined,
  );
  return { unread: tree.keys.length === 0 ? [] : unread, missing };
}

/** Whether a rule that reads these keys reads what is at a path, a part of it, or what it is a part of. */
export function isRead(path: string, fields: readonly { key: string }[]): boolean {
  return fields.some(({ key }) => mayTouch(key, path));
}

/** Whether a written key and a changed path are the same place, or one inside the other. */
function touches(key: string, path: string): boolean {
  return key === path || isInside(key, path) || isInside(path, key);
}

function isInside(inner: string, outer: string): boolean {
  return inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
}

/** A part that is only known when the rule runs stands for anything. */
function mayTouch(key: string, path: string): boolean {
  if (!key.includes('${')) return touches(key, path);
  const pattern = key
    .split(/\$\{[^}]*\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.+');
  return new RegExp(`^${pattern}($|[.[])`).test(path);
}
