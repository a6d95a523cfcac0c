import { visible } from '../contract/json/visible-text.ts';
import { type Fault, fault } from '../reasons/causes.ts';
import { asWhy } from '../reasons/template.ts';
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
  | { kind: 'refused'; fault: Fault }
  | { kind: 'stray' | 'folder' | 'other' };

export function kindOf(entry: Entry): EntryKind {
  const { name } = entry;
  if (name.startsWith('.')) return { kind: 'other' };
  if (!/\.json$/i.test(name)) {
    if (entry.isSymbolicLink()) return { kind: 'refused', fault: fault('link', {}) };
    return { kind: entry.isDirectory() && !name.startsWith('_') ? 'folder' : 'other' };
  }
  if (!entry.isFile() && !entry.isSymbolicLink()) return { kind: 'refused', fault: fault('no-file', {}) };
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
export type Skipped = { file: string; fault: Fault };

/** The folder of an app that holds its rules, and the one that holds its nodes. */
export const folderOf: Record<FileKind, string> = { rule: 'bases', node: 'confs' };

/** A file that is passed over, whose name is not the id in it. `id`: null when there is none in it. `file`: below the folder of its kind. */
export type Stray = { file: string; id: bigint | null };

export const faultOf = ({ id }: Stray, kind: FileKind) =>
  id === null ? fault('not-named-by-id', {}) : saysItIs(kind, id);

/** What is wrong with a file, which is named. Two names may differ by a character that is not seen. */
export const faultOfFile = (kind: FileKind, { file, fault: found }: Skipped): Fault =>
  fault('of-file', { file: `${folderOf[kind]}/${visible(file)}`, ...asWhy(found) });

/** What is wrong with strays, by the id that they say they have. */
export function rivalsOf(strays: readonly Stray[], kind: FileKind): Map<bigint, Fault[]> {
  const rivals = new Map<bigint, Fault[]>();
  for (const stray of strays) {
    if (stray.id === null) continue;
    const found = faultOfFile(kind, { file: stray.file, fault: faultOf(stray, kind) });
    rivals.set(stray.id, [...(rivals.get(stray.id) ?? []), found]);
  }
  return rivals;
}

/** One of the files that are named by the same id. */
type Candidate<T> = { file: string; modifiedMs: number; reading: Reading<T> };
type Beside = { kind: FileKind; rivals: readonly Fault[] | undefined };

/** Chooses the file of an id: the newest usable one, if several exist because one is being moved. Its problems name the others and the strays. */
export function chosen<T extends { rivals: readonly Fault[] }>(
  candidates: readonly Candidate<T>[],
  { kind, rivals = [] }: Beside,
): { reading: Reading<T>; skipped: Skipped[] } {
  const newestFirst = candidates.toSorted((a, b) => b.modifiedMs - a.modifiedMs || (a.file < b.file ? -1 : 1));
  const skipped: Skipped[] = [];
  let found: T | undefined;
  for (const { file, reading } of newestFirst) {
    if (reading.kind === 'unusable') skipped.push({ file, fault: reading.fault });
    else if (reading.kind === 'found' && found) skipped.push({ file, fault: fault('stands-twice', {}) });
    else if (reading.kind === 'found') found = reading.value;
  }
  if (found) {
    const beside = skipped.map((other) => faultOfFile(kind, other));
    return { reading: { kind: 'found', value: { ...found, rivals: [...beside, ...rivals] } }, skipped };
  }
  const [first] = skipped;
  if (first) return { reading: unusable(first.fault), skipped };
  const files = rivals.map(({ file }) => file).join(', ');
  return { reading: files === '' ? absent : unusable(fault('other-name', { files })), skipped };
}
