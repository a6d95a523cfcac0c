import type { ExactObject } from '../engine/data/values.ts';
import { type TimeWindow, timeWindowOf } from '../engine/time-window.ts';
import { byteMember, flagMember, idMember, integerMember, nameMember, textMember } from './members.ts';

/** One node as its file says. `sonIds` that are no ids are left out and named in `problems`. */
export type NodeFile = {
  id: bigint;
  name: string | null;
  type: bigint;
  confName: string;
  confField: string;
  sonIds: readonly bigint[];
  forwardId: bigint | null;
  inverse: boolean;
  errorState: bigint | null;
  window: TimeWindow | null;
  problems: readonly string[];
};

/** Reads a released node. Throws an error saying what is wrong with it. */
export function readNode(object: ExactObject): NodeFile {
  const id = idMember(object, 'id');
  const type = byteMember(object, 'type');
  if (id === null) throw new TypeError('id is missing');
  if (type === null) throw new TypeError('type is missing');
  const { sonIds, problems } = childrenOf(textMember(object, 'sonIds'));
  return {
    id,
    name: nameMember(object),
    type,
    sonIds,
    problems,
    confName: textMember(object, 'confName'),
    confField: textMember(object, 'confField'),
    forwardId: idMember(object, 'forwardId'),
    inverse: flagMember(object, 'inverse'),
    errorState: byteMember(object, 'errorState'),
    window: windowMember(object),
  };
}

/** The window that a rule's or a node's file limits it to, null = always. */
export function windowMember(object: ExactObject): TimeWindow | null {
  const [start, end] = [integerMember(object, 'start'), integerMember(object, 'end')];
  return timeWindowOf(byteMember(object, 'timeType'), start, end);
}

function childrenOf(sonIds: string): Pick<NodeFile, 'sonIds' | 'problems'> {
  const parts = sonIds.split(',').map((part) => part.trim());
  const ids = parts.filter((part) => /^[1-9]\d{0,18}$/.test(part)).map(BigInt);
  const wrong = parts.filter((part) => part !== '' && !/^[1-9]\d{0,18}$/.test(part));
  return { sonIds: ids, problems: wrong.map((part) => `sonIds: ${JSON.stringify(part.slice(0, 40))} is no id`) };
}
