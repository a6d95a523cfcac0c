import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { integerOf, RawNumber } from '../../shared/contract/json/raw-number.ts';
import { type ExactObject, isExactObject } from '../engine/data/values.ts';
import { unless } from '../errno.ts';
import { listMember, objectOf } from './members.ts';
import { readNode } from './node-file.ts';
import { isReleased, type Released } from './released-files.ts';
import { readRule } from './rule-file.ts';

/** The changes of one version; null when its file is not there (yet). Throws when the file cannot be read as one. */
export async function readUpdate(directory: string, version: bigint): Promise<ExactObject | null> {
  const text = await readFile(join(directory, 'versions', `${version}_upd.json`), 'utf8').catch(
    unless('ENOENT', 'ENOTDIR'),
  );
  return text === undefined ? null : objectOf(text);
}

/** The released files after an update. The given ones stay what they were. Throws when the update makes no sense. */
export function applyUpdate(released: Released, update: ExactObject, version: bigint): Released {
  const rules = new Map(released.rules);
  const nodes = new Map(released.nodes);
  for (const id of idsOf(update, 'deleteConfIds')) nodes.delete(id);
  for (const id of idsOf(update, 'deleteBaseIds')) rules.delete(id);
  for (const object of objectsOf(update, 'insertOrUpdateConfs')) put(nodes, readNode(object), object);
  for (const object of objectsOf(update, 'insertOrUpdateBases')) put(rules, readRule(object), object);
  return { ...released, version, rules, nodes };
}

function put<T extends { id: bigint }>(map: Map<bigint, T>, file: T, object: ExactObject): void {
  if (isReleased(object)) map.set(file.id, file);
  else map.delete(file.id);
}

function idsOf(update: ExactObject, name: string): bigint[] {
  return listMember(update, name).map((value: ExactValue) => {
    const id = value instanceof RawNumber ? integerOf(value.text) : undefined;
    if (id === undefined) throw new TypeError(`${name} must hold ids`);
    return id;
  });
}

function objectsOf(update: ExactObject, name: string): ExactObject[] {
  return listMember(update, name).map((value) => {
    if (!isExactObject(value)) throw new TypeError(`${name} must hold objects`);
    return value;
  });
}
