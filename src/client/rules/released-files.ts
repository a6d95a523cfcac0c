import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { idOfFileName } from '../../shared/rules/file-name.ts';
import { objectOf, parseObject } from '../../shared/rules/members.ts';
import { isReleased, problemOfStatus, type RuleNode, readNode } from '../../shared/rules/node-file.ts';
import { type Rule, readRule } from '../../shared/rules/rule-file.ts';
import { type Changes, readUpdate, type Update, versionOf } from '../../shared/rules/update-file.ts';
import { unless } from '../../shared/runtime/errno.ts';

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
  const version = await readVersion(directory);
  const problems: string[] = [];
  const unreadable = { rules: new Map<bigint, string>(), nodes: new Map<bigint, string>() };
  const common = { problems, directory };
  const [rules, nodes] = await Promise.all([
    readFolder(join(directory, 'bases'), {
      ...common,
      ...{ recursive: true, read: readRule, unreadable: unreadable.rules },
    }),
    readFolder(join(directory, 'confs'), {
      ...common,
      ...{ recursive: false, read: readNode, unreadable: unreadable.nodes },
    }),
  ]);
  return { version: version ?? 0n, rules, nodes, problems, unreadable };
}

/** The version an app is at; null when there is none, or none that can be read. */
export async function readVersion(directory: string): Promise<bigint | null> {
  const text = await readFile(join(directory, 'version.txt'), 'utf8').catch(unless('ENOENT', 'ENOTDIR'));
  return versionOf(text ?? '');
}

/** The changes of one version; null when its file is not there (yet). Throws when the file cannot be read as one. */
export async function readUpdateFile(directory: string, version: bigint): Promise<Update | null> {
  const text = await readFile(join(directory, 'versions', `${version}_upd.json`), 'utf8').catch(
    unless('ENOENT', 'ENOTDIR'),
  );
  return text === undefined ? null : readUpdate(objectOf(text));
}

/** The released files after an update. The given ones stay what they were. */
export function applyUpdate(released: Released, { rules, nodes }: Update, version: bigint): Released {
  return { ...released, version, rules: changed(released.rules, rules), nodes: changed(released.nodes, nodes) };
}

function changed<T extends { status: bigint | null }>(
  before: ReadonlyMap<bigint, T>,
  { deleted, written }: Changes<T>,
) {
  const files = new Map(before);
  for (const id of deleted) files.delete(id);
  for (const [id, file] of written) {
    if (isReleased(file)) files.set(id, file);
    else files.delete(id);
  }
  return files;
}

type Folder<T> = {
  recursive: boolean;
  read: (object: ExactObject, named: bigint) => T;
  problems: string[];
  unreadable: Map<bigint, string>;
  directory: string;
};
type File = { id: bigint; status: bigint | null };

async function readFolder<T extends File>(folder: string, options: Folder<T>): Promise<Map<bigint, T>> {
  const entries = await readdir(folder, { recursive: options.recursive, withFileTypes: true }).catch(
    unless('ENOENT', 'ENOTDIR'),
  );
  const files = (entries ?? []).filter((entry) => entry.isFile() && entry.name.endsWith('.json'));
  const found = new Map<bigint, T>();
  const next = files
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .values();
  const lane = async () => {
    for (const path of next) await readInto(found, path, options);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, lane));
  return found;
}

async function readInto<T extends File>(found: Map<bigint, T>, path: string, options: Folder<T>) {
  const { read, problems, unreadable, directory } = options;
  const name = relative(directory, path);
  const id = idOfFileName(basename(path));
  if (id === undefined) return problems.push(`${name} is not named by an id`);
  const text = await readFile(path, 'utf8').catch(unless('ENOENT'));
  if (text === undefined) return;
  const file = parseObject(text, (object) => read(object, id));
  if (file.kind === 'found' && isReleased(file.value)) found.set(id, file.value);
  else if (file.kind === 'found') problems.push(...problemOfStatus(file.value.status).map((why) => `${name} ${why}`));
  else if (file.kind === 'unusable') {
    problems.push(`${name} ${file.reason}`);
    unreadable.set(id, `its file ${file.reason}`);
  }
}
