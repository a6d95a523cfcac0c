import { visible } from '../contract/json/visible-text.ts';
import { INT64_MAX } from './java-scalars.ts';
import { type FileKind, saysItIs } from './node-file.ts';
import { absent, type Reading, unusable } from './reading.ts';

/** An entry of a folder, as the file system tells it. */
type Entry = { name: string; isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean };

/**
 * What an entry of a folder of rules or nodes is for workers and our client. `stray`: JSON whose name is no id, such as the copy of an
 * editor or a sync tool. Hidden files, and folders whose names begin with `_`, hold no rules.
 */
type EntryKind =
  | { kind: 'file'; id: bigint }
  | { kind: 'refused'; reason: string }
  | { kind: 'stray' | 'folder' | 'other' };

export function kindOf(entry: Entry): EntryKind {
  const { name } = entry;
  if (name.startsWith('.')) return { kind: 'other' };
  if (!/\.json$/i.test(name)) {
    if (entry.isSymbolicLink()) return { kind: 'refused', reason: 'is a link' };
    return { kind: entry.isDirectory() && !name.startsWith('_') ? 'folder' : 'other' };
  }
  if (!entry.isFile() && !entry.isSymbolicLink()) return { kind: 'refused', reason: 'is not a regular file' };
  const id = idOfFileName(name);
  return id === undefined ? { kind: 'stray' } : { kind: 'file', id };
}

/** The id a file's name stands for, or undefined when it is not a positive int64 in plain decimal. */
export function idOfFileName(name: string): bigint | undefined {
  const digits = /^([1-9]\d{0,18})\.json$/.exec(name)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= INT64_MAX ? id : undefined;
}

/** A skipped file, and why. */
export type Skipped = { file: string; reason: string };

/** The folder of an app that holds its rules, and the one that holds its nodes. */
export const folderOf: Record<FileKind, string> = { rule: 'bases', node: 'confs' };

/** A file that is passed over, whose name is not the id in it. `id`: null when there is none in it. `file`: below the folder of its kind. */
export type Stray = { file: string; id: bigint | null };

export const reasonOf = ({ id }: Stray, kind: FileKind) => (id === null ? 'is not named by an id' : saysItIs(kind, id));

/** What is wrong with a file, in a sentence. Two names may differ by a character that is not seen. */
export const problemOfFile = (kind: FileKind, file: string, reason: string) =>
  `${folderOf[kind]}/${visible(file)} ${reason}`;

/** The strays by the id that they say they have, a sentence each. */
export function rivalsOf(strays: readonly Stray[], kind: FileKind): Map<bigint, string[]> {
  const rivals = new Map<bigint, string[]>();
  for (const stray of strays) {
    if (stray.id === null) continue;
    rivals.set(stray.id, [...(rivals.get(stray.id) ?? []), problemOfFile(kind, stray.file, reasonOf(stray, kind))]);
  }
  return rivals;
}

/** One of the files that are named by the same id. */
type Candidate<T> = { file: string; modifiedMs: number; reading: Reading<T> };
type Beside = { kind: FileKind; rivals: readonly string[] | undefined };

/** Chooses the file of an id: the newest usable one, if several exist because one is being moved. Its problems name the others and the strays. */
export function chosen<T extends { rivals: readonly string[] }>(
  candidates: readonly Candidate<T>[],
  { kind, rivals = [] }: Beside,
): { reading: Reading<T>; skipped: Skipped[] } {
  const newestFirst = candidates.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.file < b.file ? -1 : 1));
  const skipped: Skipped[] = [];
  let found: T | undefined;
  for (const { file, reading } of newestFirst) {
    if (reading.kind === 'unusable') skipped.push({ file, reason: reading.reason });
    else if (reading.kind === 'found' && found) skipped.push({ file, reason: 'stands twice: the newer file counts' });
    else if (reading.kind === 'found') found = reading.value;
  }
  if (found) {
    const beside = skipped.map(({ file, reason }) => problemOfFile(kind, file, reason));
    return { reading: { kind: 'found', value: { ...found, rivals: [...beside, ...rivals] } }, skipped };
  }
  const [first = rivals.length > 0 ? { reason: 'is not named by its id' } : undefined] = skipped;
  return { reading: first ? unusable([first.reason, ...rivals].join('; ')) : absent, skipped };
}
