import type { ExactObject } from '../contract/json/raw-number.ts';
import { byteMember, integerMember } from './members.ts';

/** When a rule or node takes part: both ends inclusive, epoch ms, null = not given. */
export type TimeWindow = { type: 'always' | 'after' | 'before' | 'between'; start: bigint | null; end: bigint | null };

/** The numbers that files have for the types. */
export const windowNumbers = { after: 5, before: 6, between: 7 } as const;
const types: Record<string, TimeWindow['type']> = {
  [windowNumbers.after]: 'after',
  [windowNumbers.before]: 'before',
  [windowNumbers.between]: 'between',
};

/** The window that a file limits a rule or a node to; an unknown or missing type is no window, as in every client. */
export function windowMember(object: ExactObject): TimeWindow {
  const type = types[String(byteMember(object, 'timeType'))] ?? 'always';
  return { type, start: integerMember(object, 'start'), end: integerMember(object, 'end') };
}

/** The window as clients apply it: null is always, and a missing bound is 0, so a window without an end has been over since 1970. */
export function sidesOf({ type, start, end }: TimeWindow): { after: bigint | null; before: bigint | null } | null {
  if (type === 'always') return null;
  return { after: type === 'before' ? null : (start ?? 0n), before: type === 'after' ? null : (end ?? 0n) };
}
