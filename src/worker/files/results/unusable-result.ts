import type { Fault } from '../../../shared/contract/client-files.ts';
import { INLINE_BYTES } from '../../../shared/store/key-value-store.ts';
import type { FileStats } from '../ports/operations.ts';
import type { Judgement } from './judge-result.ts';

/** A file as it looks unread. `stamp` tells whether it changed between two looks. */
export type Sight = { stamp: string; bytes: number };

export const toSight = ({ ino, size, mtimeMs }: FileStats): Sight => ({
  stamp: `${ino}:${size}:${mtimeMs}`,
  bytes: size,
});

/** Something that is no result may still be in the making: it counts once it has not changed for this long. */
const WRONG_FOR_MS = 2000;
/** A file may change within the grain of its time: what looks the same is read once more, and again before it is given up. */
const READ_AT_MOST = 2;

/**
 * The file at the result path, as long as it is not a valid result, so that it is not read again and again. `seen`: how it looked the last
 * time. `read`: what it was when it was read last, since when it has been the same, and how often it was read.
 */
export type UnusableResult = {
  seen: string | null;
  read: { stamp: string; judgement: Judgement; since: number; times: number } | null;
};

/** Nothing is there. */
export const noResult: UnusableResult = { seen: null, read: null };

/**
 * Whether reading what is there now may tell something new. A large file that grows is read once it stands still, or when this is the last
 * look.
 */
export function mayBeNews({ seen, read }: UnusableResult, { stamp, bytes }: Sight, isLastLook: boolean): boolean {
  if (stamp === read?.stamp) return read.times < READ_AT_MOST || isLastLook;
  return read === null || bytes <= INLINE_BYTES || stamp === seen || isLastLook;
}

/** It looks like this. */
export function withSight(unusable: UnusableResult, { stamp }: Sight): UnusableResult {
  return { ...unusable, seen: stamp };
}

/** It was read, and is no answer. */
export function withJudgement(
  { seen, read }: UnusableResult,
  stamp: string,
  judgement: Judgement,
  now: number,
): UnusableResult {
  const same = read?.stamp === stamp ? read : null;
  return { seen, read: { stamp, judgement, since: same?.since ?? now, times: (same?.times ?? 0) + 1 } };
}

/** Whether it is not only incomplete, and has been the same for so long that it will not become a result. */
export function isWrongForGood({ seen, read }: UnusableResult, now: number): boolean {
  return read?.judgement.kind === 'wrong' && read.stamp === seen && now - read.since >= WRONG_FOR_MS;
}

/** The fault of the result, whether it says that the client's process ended while it ran the rule, and the beginning of its text. */
export function faultOf({
  read,
}: UnusableResult): { fault: Fault; clientDied: boolean; written: string | undefined } | undefined {
  if (read === null || read.judgement.kind === 'answer') return undefined;
  const { judgement } = read;
  const { clientDied, written } = judgement.kind === 'wrong' ? judgement : {};
  return { fault: judgement.fault, clientDied: clientDied === true, written };
}
