import { compactJson } from '../../shared/json-tree/print-json.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { diffJson } from '../json/diff-json.ts';

/** An input in a few words, "cost 99, uid 1"; null when the list does not have it. */
export function inputInShort(input: string | null, maxLength: number): string | null {
  const read = input === null ? null : readJson(input);
  if (read?.kind !== 'ok' || read.root.kind !== 'object') return null;
  const short = read.root.members.map(({ key, value }) => {
    return `${key} ${value.kind === 'string' ? value.value : compactJson(value)}`;
  });
  const text = short.join(', ');
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

/** The changes from an earlier run's input to this one's, "cost 100 → 99"; null when there is none or it is not known. */
export function changedInput(before: string | null, after: string | null): string | null {
  const [a, b] = [before, after].map((text) => (text === null ? null : readJson(text)));
  if (a?.kind !== 'ok' || b?.kind !== 'ok') return null;
  const changes = diffJson(a.root, b.root).changes.filter(({ kind }) => kind !== 'same');
  if (changes.length === 0) return null;
  const words = changes.map(({ path, before: was, after: is }) => {
    return `${path} ${was ? compactJson(was) : '–'} → ${is ? compactJson(is) : '–'}`;
  });
  return words.join(', ');
}
