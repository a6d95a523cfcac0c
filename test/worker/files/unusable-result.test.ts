import { describe, expect, it } from 'vitest';
import {
  faultOf,
  isWrongForGood,
  mayBeNews,
  noResult,
  type UnusableResult,
  withJudgement,
  withSight,
} from '../../../src/worker/files/results/result-file.ts';

const KIB = 1024;
const incomplete = { kind: 'incomplete', fault: { problem: 'result-cut' } } as const;
const wrong = { kind: 'wrong', fault: { problem: 'not-json' } } as const;

type Look = {
  stamp: string;
  bytes: number;
  isLastRead?: boolean;
  judgement?: typeof incomplete | typeof wrong;
  at?: number;
};

/** Looks at a file again and again; tells at which looks it was read. */
function look(looks: readonly Look[], from: UnusableResult = noResult): { reads: boolean[]; known: UnusableResult } {
  let known = from;
  const reads = looks.map(({ stamp, bytes, isLastRead = false, judgement = incomplete, at = 0 }) => {
    const isNews = mayBeNews(known, { stamp, bytes }, isLastRead);
    known = withSight(known, { stamp, bytes });
    if (isNews) known = withJudgement(known, stamp, judgement, at);
    return isNews;
  });
  return { reads, known };
}

describe('a file at the result path that is no valid result', () => {
  it('is read again when it changes, and once more when it seems not to', () => {
    const same = { stamp: 'a', bytes: 10 };
    expect(look([same, same, same, same, { stamp: 'b', bytes: 11 }]).reads).toEqual([true, true, false, false, true]);
  });

  it('is read once it stands still, when it is large and grew since it was read', () => {
    const sizes = [100, 200, 300, 300].map((kib) => ({ stamp: String(kib), bytes: kib * KIB }));
    expect(look(sizes).reads).toEqual([true, false, false, true]);
  });

  it('is read at the last look, also when it grows, and also what looks as it did when it was read', () => {
    const large = { stamp: 'a', bytes: 100 * KIB };
    const { known } = look([large, large, large]);
    expect(look([large], known).reads).toEqual([false]);
    expect(look([{ ...large, isLastRead: true }], known).reads).toEqual([true]);
    expect(look([{ stamp: 'b', bytes: 200 * KIB, isLastRead: true }], known).reads).toEqual([true]);
  });

  it('is wrong for good when it has not changed for two seconds', () => {
    const first = look([{ stamp: 'a', bytes: 10, judgement: wrong, at: 1000 }]).known;
    expect([isWrongForGood(first, 2999), isWrongForGood(first, 3000)]).toEqual([false, true]);
    expect(isWrongForGood(withSight(first, { stamp: 'b', bytes: 10 }), 3000)).toBe(false);
    const second = look([{ stamp: 'b', bytes: 10, judgement: wrong, at: 2500 }], first).known;
    expect([isWrongForGood(second, 3000), isWrongForGood(second, 4500)]).toEqual([false, true]);
    expect(faultOf(second)).toEqual({ fault: wrong.fault, clientDied: false });
  });

  it('is never wrong for good while it is only incomplete, or gone', () => {
    const { known } = look([{ stamp: 'a', bytes: 10 }]);
    expect([isWrongForGood(known, 5000), faultOf(known)?.fault]).toEqual([false, incomplete.fault]);
    expect([isWrongForGood(noResult, 5000), faultOf(noResult)]).toEqual([false, undefined]);
  });
});
