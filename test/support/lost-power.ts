import type { Dice } from '../simulator/search/dice.ts';
import type { Change, Journal } from './recorded-mount.ts';

/**
 * What a disk has after a loss of power, of what was done before it. What was flushed is there in each model.
 * - `in-order`: everything, but of the last write that was not flushed a part only.
 * - `flushed-only`: nothing else.
 * - `mixed`: the names up to some moment, and any of the writes; of the last of them a part only. A journaling file system keeps names and
 *   sizes in their order, and writes data in any order.
 */
export const models = ['in-order', 'flushed-only', 'mixed'] as const;
export type Model = (typeof models)[number];

/** Which changes survive, and how many bytes of the one that is torn. */
export type Survivors = { changes: readonly number[]; torn: { at: number; bytes: number } | null };

/** This mark says that all before it has been on the disk for long. */
export const SETTLED = 'settled';

const SECTOR = 512;

type Options = { cut: number; model: Model; dice: Dice };

/** What survives when the power fails before the change `cut`. */
export function survivors({ changes }: Journal, { cut, model, dice }: Options): Survivors {
  const isFlushed = flushedBefore(changes, cut);
  const places = changes.slice(0, cut).flatMap((change, at) => (isState(change) ? [at] : []));
  const kept = places.filter(keeping(model, { changes, isFlushed, cut, dice }));
  const at = kept.findLast((each) => changes[each]?.op === 'write' && !isFlushed(each)) ?? -1;
  const torn = changes[at];
  if (torn?.op !== 'write') return { changes: kept, torn: null };
  const bytes = dice.whole(0, torn.length - 1);
  return { changes: kept, torn: { at, bytes: dice.chance(0.5) ? bytes : bytes - (bytes % SECTOR) } };
}

type Judge = (at: number) => boolean;
type Known = { changes: readonly Change[]; isFlushed: Judge; cut: number; dice: Dice };

function keeping(model: Model, { changes, isFlushed, cut, dice }: Known): Judge {
  if (model === 'in-order') return () => true;
  if (model === 'flushed-only') return isFlushed;
  const least = changes.slice(0, cut).findLastIndex((change, at) => isOfNames(change) && isFlushed(at)) + 1;
  const namesUntil = dice.pick([least, cut, dice.whole(least, cut), dice.whole(least, cut)]);
  const share = dice.pick([0.1, 0.5, 0.9]);
  return (at) => isFlushed(at) || (isOfNames(changes[at]) ? at < namesUntil : dice.chance(share));
}

const isState = ({ op }: Change) => op !== 'flush' && op !== 'mark';
const isOfNames = (change: Change | undefined) => change !== undefined && isState(change) && change.op !== 'write';

/**
 * Says which changes are on the disk for sure. A flush covers what was done to its file, or the names in its directory, before it began. As
 * on ext4, xfs and btrfs it covers the names of that file or directory as well, and of all directories above.
 */
function flushedBefore(changes: readonly Change[], cut: number): Judge {
  const [contents, names, entries] = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()];
  const homes = new Map<number, Set<number>>();
  let all = 0;
  const raise = (map: Map<number, number>, node: number, to: number) => map.set(node, Math.max(map.get(node) ?? 0, to));
  function cover(node: number, until: number): void {
    raise(names, node, until);
    for (const home of homes.get(node) ?? []) cover(home, until);
  }
  for (const [at, change] of changes.slice(0, cut).entries()) {
    if ('parent' in change) homes.set(change.node, (homes.get(change.node) ?? new Set()).add(change.parent));
    if (change.op === 'flush') {
      raise(contents, change.node, change.covers);
      raise(entries, change.node, change.covers);
      cover(change.node, change.covers);
    }
    if (change.op === 'mark' && change.text === SETTLED) all = at;
  }
  const covers = (map: Map<number, number>, node: number, at: number) => at < (map.get(node) ?? 0);
  return (at) => {
    const change = changes[at];
    if (change === undefined || change.op === 'mark' || change.op === 'flush') return false;
    if (at < all) return true;
    if (!('parent' in change)) return covers(contents, change.node, at);
    const isInPlace =
      covers(entries, change.parent, at) || (change.op === 'move' && covers(entries, change.before, at));
    return isInPlace || covers(names, change.node, at);
  };
}
