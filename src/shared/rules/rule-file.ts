import type { ExactObject } from '../contract/json/raw-number.ts';
import type { Fault } from '../reasons/causes.ts';
import { javaInteger } from './java-scalars.ts';
import { byteMember, idMember, memberOf, nameMember, textMember } from './members.ts';
import { idIn, problemOfStatus } from './node-file.ts';
import { type TimeWindow, windowMember } from './time-window.ts';

/**
 * One rule as its file says. `confId` null: it has no root, so that running it does nothing. `status`: 1 online, 0 offline, -1 deleted;
 * clients differ in what they do about it. `problems`: what is wrong with it though it can be read.
 */
export type Rule = {
  id: bigint;
  name: string | null;
  confId: bigint | null;
  status: bigint | null;
  scenes: string[];
  timeWindow: TimeWindow;
  updateAt: bigint | null;
  problems: Fault[];
  /** Other files that say that they are this one: this one counts. */
  rivals: readonly Fault[];
};

/** Reads a rule's file. `named`: what the file's name says. Throws an error saying what is wrong with it. */
export function readRule(object: ExactObject, named?: bigint): Rule {
  const status = byteMember(object, 'status');
  const scenes = textMember(object, 'scenes').split(',');
  return {
    id: idIn(object, 'rule', named),
    name: nameMember(object),
    confId: idMember(object, 'confId'),
    status,
    scenes: scenes.map((scene) => scene.trim()).filter((scene) => scene !== ''),
    timeWindow: windowMember(object),
    updateAt: javaInteger(memberOf(object, 'updateAt')) ?? null,
    problems: problemOfStatus(status),
    rivals: [],
  };
}
