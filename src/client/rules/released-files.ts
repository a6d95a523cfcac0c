import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { ExactObject } from '../engine/data/values.ts';
import { unless } from '../errno.ts';
import { byteMember, idMember, objectOf } from './members.ts';
import { type NodeFile, readNode } from './node-file.ts';
import { type RuleFile, readRule } from './rule-file.ts';

/**
 * The rules and nodes that an app has released. `problems`: files that were passed over, and why. `unreadable`: the ids of
 * those that cannot be read, with the reason.
 */
export type Released = {
  version: bigint;
  rules: Map<bigint, RuleFile>;
  nodes: Map<bigint, NodeFile>;
  problems: string[];
  unreadable?: Unreadable;
};

type Unreadable = { rules: ReadonlyMap<bigint, string>; nodes: ReadonlyMap<bigint, string> };

const DELETED = -1n;
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
  return /^\s*\d{1,19}\s*$/.test(text ?? '') ? BigInt(text?.trim() ?? 0) : null;
}

/** Whether a file stands for something released: as in the Java SDK one without a status does not. */
export function isReleased(object: ExactObject): boolean {
  const status = byteMember(object, 'status');
  return status !== null && status !== DELETED;
}

type Folder<T> = {
  recursive: boolean;
  read: (object: ExactObject) => T;
  problems: string[];
  unreadable: Map<bigint, string>;
  directory: string;
};

async function readFolder<T extends { id: bigint }>(folder: string, options: Folder<T>): Promise<Map<bigint, T>> {
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

async function readInto<T extends { id: bigint }>(found: Map<bigint, T>, path: string, options: Folder<T>) {
  const text = await readFile(path, 'utf8').catch(unless('ENOENT'));
  if (text === undefined) return;
  let object: ExactObject | undefined;
  try {
    object = objectOf(text);
    const file = options.read(object);
    if (isReleased(object)) found.set(file.id, file);
    else if (object.status == null)
      options.problems.push(`${relative(options.directory, path)} has no status and counts as not released`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    options.problems.push(`${relative(options.directory, path)} cannot be used: ${why}`);
    const id = idOf(object, path);
    if (id !== null) options.unreadable.set(id, `its file cannot be read: ${why}`);
  }
}

/** The id of a file that cannot be used: the one inside it, else the one it is named after. */
function idOf(object: ExactObject | undefined, path: string): bigint | null {
  const named = /^[1-9]\d{0,18}$/.exec(basename(path, '.json'));
  try {
    return (object && idMember(object, 'id')) ?? (named && BigInt(named[0]));
  } catch {
    return named && BigInt(named[0]);
  }
}
