import { type ExactObject, integerOf, isExactObject, RawNumber } from '../contract/json/raw-number.ts';
import { fault } from '../reasons/causes.ts';
import { integerMember, listMember } from './members.ts';
import { type RuleNode, readNode } from './node-file.ts';
import { Unusable } from './reading.ts';
import { type Rule, readRule } from './rule-file.ts';

/** What one version changed in rules or in nodes. What is both deleted and written is there afterwards. */
export type Changes<T> = { deleted: ReadonlySet<bigint>; written: ReadonlyMap<bigint, T> };
export type Update = { rules: Changes<Rule>; nodes: Changes<RuleNode> };

/** The version that the text of `version.txt` says; null when it says none. */
export const versionOf = (text: string) => (/^\s*\d{1,19}\s*$/.test(text) ? BigInt(text.trim()) : null);

/** Reads the update file that is named by a version. Throws when it makes no sense. */
export function readUpdate(object: ExactObject, named: bigint): Update {
  const version = integerMember(object, 'version') ?? named;
  if (version !== named) throw new Unusable(fault('says-version', { version: `${version}` }));
  return {
    rules: { deleted: idsOf(object, 'deleteBaseIds'), written: filesOf(object, 'insertOrUpdateBases', readRule) },
    nodes: { deleted: idsOf(object, 'deleteConfIds'), written: filesOf(object, 'insertOrUpdateConfs', readNode) },
  };
}

function idsOf(update: ExactObject, name: string): ReadonlySet<bigint> {
  const ids = listMember(update, name).map((value) => {
    const id = value instanceof RawNumber ? integerOf(value.text) : undefined;
    if (id === undefined) throw new Unusable(fault('member-no-ids', { member: name }));
    return id;
  });
  return new Set(ids);
}

function filesOf<T extends { id: bigint }>(update: ExactObject, name: string, read: (object: ExactObject) => T) {
  const files = listMember(update, name).map((value): [bigint, T] => {
    if (!isExactObject(value)) throw new Unusable(fault('member-no-objects', { member: name }));
    const file = read(value);
    return [file.id, file];
  });
  return new Map(files);
}
