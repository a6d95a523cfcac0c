import { time } from '../../shared/seams/time.ts';
import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';
import type { FileStats } from '../seams/operations.ts';
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

/** Remembers a file that lies where a result belongs and is none, or not yet one, so that it is not read again and again. */
export function createUnusableResult() {
  let last: { stamp: string; judgement: Judgement; since: number; reads: number } | undefined;
  let seen: string | undefined;

  return {
    /**
     * Whether reading what is there now may tell something new. A large file that grows is read once it stands still, or
     * when this is the last look.
     */
    mayBeNews({ stamp, bytes }: Sight, { lastLook = false } = {}): boolean {
      const standsStill = stamp === seen;
      seen = stamp;
      if (stamp === last?.stamp) return last.reads < READ_AT_MOST || lastLook;
      return last === undefined || bytes <= INLINE_BYTES || standsStill || lastLook;
    },
    /** It was read, and is no answer. */
    note(stamp: string, judgement: Judgement): void {
      const same = last?.stamp === stamp ? last : undefined;
      last = { stamp, judgement, since: same?.since ?? time.now(), reads: (same?.reads ?? 0) + 1 };
    },
    /** The path is empty. */
    forget(): void {
      last = undefined;
      seen = undefined;
    },
    /**
     * How long until it is wrong for good, in ms; undefined while there is no such file, while it is only incomplete, or while
     * it will be read again.
     */
    get wrongForGoodInMs(): number | undefined {
      if (last?.judgement.kind !== 'wrong' || last.stamp !== seen) return undefined;
      return Math.max(0, last.since + WRONG_FOR_MS - time.now());
    },
    /** Whether it says that the client's process ended while it ran the rule. */
    get clientDied(): boolean {
      return last?.judgement.kind === 'wrong' && last.judgement.clientDied === true;
    },
    /** The fault of the result. */
    get problem(): string | undefined {
      return last?.judgement.kind === 'answer' ? undefined : last?.judgement.message;
    },
  };
}
