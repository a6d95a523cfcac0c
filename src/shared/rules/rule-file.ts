import type { ExactObject } from '../contract/json/raw-number.ts';
import { javaInteger } from './java-scalars.ts';
import { byteMember, idMember, memberOf, nameMember, textMember } from './members.ts';
import { idIn, noRivals, problemOfStatus } from './node-file.ts';
import { windowMember } from './time-window.ts';

/** One rule as its file says. */
export type Rule = ReturnType<typeof readRule>;

/** Reads a rule's file. `named`: what the file's name says. Throws an error saying what is wrong with it. */
export function readRule(object: ExactObject, named?: bigint) {
  const status = byteMember(object, 'status');
  const scenes = textMember(object, 'scenes').split(',');
  return {
    id: idIn(object, 'rule', named),
    name: nameMember(object),
    /** Null: it has no root, so that running it does nothing. */
    confId: idMember(object, 'confId'),
    /** 1 online, 0 offline, -1 deleted; clients differ in what they do about it. */
    status,
    scenes: scenes.map((scene) => scene.trim()).filter((scene) => scene !== ''),
    timeWindow: windowMember(object),
    updateAt: javaInteger(memberOf(object, 'updateAt')) ?? null,
    /** What is wrong with it though it can be read. */
    problems: problemOfStatus(status),
    rivals: noRivals,
  };
}
