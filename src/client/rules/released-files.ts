import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { causeOf, type Fault, fault } from '../../shared/reasons/causes.ts';
import {
  chosen,
  faultOf,
  faultOfFile,
  folderOf,
  idOfFileName,
  kindOf,
  rivalsOf,
  type Stray,
} from '../../shared/rules/entries.ts';
import { idMember, objectOf } from '../../shared/rules/members.ts';
import { type FileKind, isReleased, problemOfStatus, type RuleNode, readNode } from '../../shared/rules/node-file.ts';
import { absent, attempt, type Reading, Unusable } from '../../shared/rules/reading.ts';
import { type Rule, readRule } from '../../shared/rules/rule-file.ts';
import { type Changes, readUpdate, type Update, versionOf } from '../../shared/rules/update-file.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { readAppFile } from './app-file.ts';

/**
 * The rules and nodes that an app has released. `problems`: files that were passed over, and why. `unreadable`: the ids of
 * those that cannot be read, with the reason.
 */
export type Released = {
  version: bigint;
  rules: Map<bigint, Rule>;
  nodes: Map<bigint, RuleNode>;
  problems: string[];
  unreadable?: Unreadable;
};

type Unreadable = { rules: ReadonlyMap<bigint, string>; nodes: ReadonlyMap<bigint, string> };

const READS_AT_ONCE = 32;

/** Reads everything an app has released. `directory`: the app's folder; a missing one has released nothing. */
export async function readReleased(directory: string): Promise<Released> {
  // The version is written before the files it stands for: one that is read first is never too new for them.
  const version = (await readVersion(directory)) ?? 0n;
  const [rules, nodes] = await Promise.all([
    readFolder(directory, 'rule', readRule),
    readFolder(directory, 'node', readNode),
  ]);
  const unreadable = { rules: rules.unreadable, nodes: nodes.unreadable };
  return {
    version,
    rules: rules.found,
    nodes: nodes.found,
    problems: [...rules.problems, ...nodes.problems],
    unreadable,
  };
}

/** The version an app is at; null when there is none, or none that can be read. */
export async function readVersion(directory: string): Promise<bigint | null> {
  const file = await readAppFile(directory, join(directory, 'version.txt'));
  return file.kind === 'found' ? versionOf(file.value.text) : null;
}

/** The changes of one version; null when its file is not there (yet). Throws when the file cannot be read as one. */
export async function readUpdateFile(directory: string, version: bigint): Promise<Update | null> {
  const file = await readAppFile(directory, join(directory, 'versions', `${version}_upd.json`));
  if (file.kind === 'unusable') throw new Unusable(file.fault);
  return file.kind === 'found' ? readUpdate(objectOf(file.value.text), version) : null;
}

/** The released files after an update. The given ones stay what they were. */
export function applyUpdate(released: Released, { rules, nodes }: Update, version: bigint): Released {
  return { ...released, version, rules: changed(released.rules, rules), nodes: changed(released.nodes, nodes) };
}

function changed<T extends File>(before: ReadonlyMap<bigint, T>, { deleted, written }: Changes<T>) {
  const files = new Map(before);
  for (const id of deleted) files.delete(id);
  for (const [id, file] of written) {
    if (isReleased(file)) files.set(id, { ...file, rivals: before.get(id)?.rivals ?? [] });
    else files.delete(id);
  }
  return files;
}

type File = { id: bigint; status: bigint | null; rivals: readonly Fault[] };
type Tell = (file: string, found: Fault) => void;
type Read<T> = (object: ExactObject, named: bigint) => T;

/** `directory`: the app's folder. */
async function readFolder<T extends File>(directory: string, kind: FileKind, read: Read<T>) {
  const found = new Map<bigint, T>();
  const unreadable = new Map<bigint, string>();
  const problems: string[] = [];
  const tell: Tell = (file, wrong) => void problems.push(causeOf(faultOfFile(kind, { file, fault: wrong })));
  const path = join(directory, folderOf[kind]);
  const folder = await lstat(path).catch(unless('ENOENT', 'ENOTDIR'));
  if (folder?.isSymbolicLink()) problems.push(causeOf(fault('of-file', { file: folderOf[kind], why: 'link' })));
  const files: ReadFile<T>[] = [];
  const names = (folder?.isDirectory() ? await filesIn(path, kind, tell) : []).values();
  const lane = async () => {
    for (const file of names) files.push(await readFile(directory, join(path, file), { file, read }));
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, lane));
  files.sort((a, b) => (a.file < b.file ? -1 : 1));
  const named = Map.groupBy(files, (file) => file.named);
  const strays = files.filter((file) => file.id !== file.named);
  const rivals = rivalsOf(strays, kind);
  for (const stray of named.get(undefined) ?? []) tell(stray.file, faultOf(stray, kind));
  for (const id of new Set([...named.keys(), ...rivals.keys()])) {
    if (id === undefined) continue;
    const { reading, skipped } = chosen(named.get(id) ?? [], { kind, rivals: rivals.get(id) });
    for (const { file, fault: wrong } of skipped) tell(file, wrong);
    if (reading.kind === 'unusable') unreadable.set(id, `its file ${causeOf(reading.fault)}`);
    if (reading.kind !== 'found') continue;
    if (isReleased(reading.value)) found.set(id, reading.value);
    else for (const problem of problemOfStatus(reading.value.status)) tell(`${id}.json`, problem);
  }
  return { found, unreadable, problems };
}

/** A file of a folder. `named`: the id it is named by; `id`: the one in it. */
type ReadFile<T> = Stray & { named: bigint | undefined; modifiedMs: number; reading: Reading<T> };

async function readFile<T>(
  directory: string,
  path: string,
  { file, read }: { file: string; read: Read<T> },
): Promise<ReadFile<T>> {
  const named = idOfFileName(basename(path));
  const text = await readAppFile(directory, path);
  const object = text.kind === 'found' ? attempt(() => objectOf(text.value.text)) : text;
  const modifiedMs = text.kind === 'found' ? text.value.modifiedMs : 0;
  if (object.kind !== 'found') return { file, named, id: null, modifiedMs, reading: object };
  const id = attempt(() => idMember(object.value, 'id'));
  const reading = named === undefined ? absent : attempt(() => read(object.value, named));
  return { file, named, id: id.kind === 'found' ? id.value : null, modifiedMs, reading };
}

/** The files below a folder that may be rules or nodes; those of rules may lie in further folders. */
async function filesIn(folder: string, kind: FileKind, tell: Tell, below = ''): Promise<string[]> {
  const path = join(folder, below);
  const entries = await readdir(path, { withFileTypes: true }).catch(unless('ENOENT', 'ENOTDIR'));
  const files: string[] = [];
  for (const entry of entries ?? []) {
    const file = join(below, entry.name);
    const found = kindOf(entry);
    if (found.kind === 'refused') tell(file, found.fault);
    if (found.kind === 'file' || found.kind === 'stray') files.push(file);
    if (found.kind === 'folder' && kind === 'rule') files.push(...(await filesIn(folder, kind, tell, file)));
  }
  return files;
}
