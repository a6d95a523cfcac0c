import { type Json, type JsonObject, readJson } from '../../shared/json-tree/read-json.ts';
import { below, type Path, valueAt } from '../../shared/json-tree/value-at.ts';

/**
 * The text with `raw` at the path; every other character stays as it is. Objects that are missing on the way are made. The
 * text unchanged when it is no JSON or when something that is no object stands in the way.
 */
export function setAt(text: string, path: Path, raw: string): string {
  const read = readJson(text);
  if (read.kind === 'bad') return text;
  let parent: Json = read.root;
  for (const [depth, step] of path.entries()) {
    const next = below(parent, step);
    if (next === undefined) {
      if (parent.kind !== 'object') return text;
      const missing = path.slice(depth + 1).reduceRight((inner, name) => `{${JSON.stringify(name)}: ${inner}}`, raw);
      return insert(text, parent, { key: step, raw: missing });
    }
    parent = next;
  }
  return text.slice(0, parent.start) + raw + text.slice(parent.end);
}

/** The text without what is at the path, and without the objects that are empty because of it. */
export function removeAt(text: string, path: Path): string {
  const read = readJson(text);
  if (read.kind === 'bad' || path.length === 0) return text;
  const parent = valueAt(read.root, path.slice(0, -1));
  const last = path.at(-1);
  if (parent?.kind !== 'object') return text;
  const index = parent.members.findIndex(({ key }) => key === last);
  if (index < 0) return text;
  if (parent.members.length === 1 && path.length > 1) return removeAt(text, path.slice(0, -1));
  return cutMember(text, parent, index);
}

function insert(text: string, parent: JsonObject, { key, raw }: { key: string; raw: string }): string {
  const last = parent.members.at(-1);
  const member = `${JSON.stringify(key)}: ${raw}`;
  if (!last) {
    const inner = parent.start === 0 ? `\n  ${member}\n` : member;
    return `${text.slice(0, parent.start)}{${inner}}${text.slice(parent.end)}`;
  }
  const before = text.slice(0, last.keyStart);
  // Whatever stands before the last key on its line is how members are set apart here.
  const gap = /\n[ \t]*$/.exec(before)?.[0] ?? ' ';
  return `${text.slice(0, last.value.end)},${gap}${member}${text.slice(last.value.end)}`;
}

function cutMember(text: string, { start, end, members }: JsonObject, index: number): string {
  const member = members[index];
  const next = members[index + 1];
  const previous = members[index - 1];
  if (!member) return text;
  if (next) return text.slice(0, member.keyStart) + text.slice(next.keyStart);
  if (previous) return text.slice(0, previous.value.end) + text.slice(member.value.end);
  return `${text.slice(0, start)}{}${text.slice(end)}`;
}
