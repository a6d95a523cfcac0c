import type { Json } from '../../shared/json-tree/read-json.ts';
import { valueAt } from '../../shared/json-tree/value-at.ts';
import { pathOfKey } from '../../shared/reasoning/key-path.ts';
import type { Mark } from '../../shared/reasoning/trace/mark.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { KeyUse, Tree } from '../api/browse.ts';

/** Nodes that wrote a path: for certain by the structured trace, else those that may have by what is known of their classes. */
type Writers = { ids: string[]; certain: boolean };

/** The possible writers of a path such as `vip.level` or `items[2].price`. */
export function writersOf(path: string, tree: Tree | null, marks: ReadonlyMap<Occurrence, Mark>): Writers {
  const seen = new Set<string>();
  for (const [{ node }, mark] of marks) {
    if (mark.writes.some(({ key }) => touches(key, path))) seen.add(node.id);
  }
  if (seen.size > 0) return { ids: [...seen], certain: true };
  const ran = new Set([...marks.keys()].map(({ node }) => node.id));
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
