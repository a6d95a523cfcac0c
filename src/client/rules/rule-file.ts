import type { ExactObject } from '../engine/data/values.ts';
import type { TimeWindow } from '../engine/time-window.ts';
import { byteMember, idMember, nameMember, textMember } from './members.ts';
import { windowMember } from './node-file.ts';

/** One rule as its file says. `confId` null: it has no root, so that running it does nothing. */
export type RuleFile = {
  id: bigint;
  name: string | null;
  status: bigint | null;
  confId: bigint | null;
  window: TimeWindow | null;
  scenes: readonly string[];
};

/** Reads a released rule. Throws an error saying what is wrong with it. */
export function readRule(object: ExactObject): RuleFile {
  const id = idMember(object, 'id');
  if (id === null) throw new TypeError('id is missing');
  const scenes = textMember(object, 'scenes').split(',');
  return {
    ...{ id, name: nameMember(object), status: byteMember(object, 'status') },
    ...{ confId: idMember(object, 'confId'), window: windowMember(object) },
    scenes: scenes.map((scene) => scene.trim()).filter((scene) => scene !== ''),
  };
}
