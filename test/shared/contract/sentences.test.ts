import { describe, expect, it } from 'vitest';
import { sentences } from '../../../src/shared/contract/sentences.ts';

const claim = { address: 'orders-1', givesUp: true };
const place = { ...claim, app: 7, directoryName: 'orders-1', mockId: 'm' };
const unusable = { problem: 'is not JSON', clientDied: false };
const nobody = sentences.others([], null);

const all = [
  sentences.tooManyWait(10),
  sentences.notSent('cannot be reached'),
  sentences.bodiesFull(),
  sentences.keysFull(),
  sentences.notesAway(),
  sentences.notConfirmed('m'),
  sentences.stopping(),
  sentences.cancelledInQueue('m'),
  sentences.cancelledInDoubt('m'),
  sentences.neverTaken('all', 0),
  sentences.neverTaken('all', 2),
  sentences.storeWasAway('m'),
  sentences.neverReported('m', 1),
  sentences.queueGaveUp('m', 'why'),
  sentences.answeredInNewerForm('m'),
  sentences.answerUnreadable('m', 'a'),
  sentences.answerGone({ mockId: 'm', address: 'a' }),
  sentences.endingUnknown('m'),
  sentences.mayBeOnItsWay('m'),
  sentences.tooLate(),
  sentences.cancelledBeforeDispatch('m'),
  sentences.fenced('m'),
  sentences.noClient(7, '', nobody),
  sentences.noClient(7, 'lane:beta', sentences.others(['b-2'], 'm_x.json is not a registration')),
  sentences.unknownClient(7, 'a', nobody),
  sentences.clientOffline('a', nobody),
  sentences.cycle({ app: 7, ruleId: '1', confId: null }, [1n, 2n]),
  sentences.clientFull(claim),
  sentences.channelUnavailable(place, 'the disk is full'),
  sentences.clientsUnreadable(7, 'the disk is full'),
  sentences.claimsUnwritable('the disk is full'),
  sentences.tooNew(9),
  sentences.unreadableJob('m'),
  sentences.unreadableClaim('m'),
  sentences.cancelledBeforePickUp(claim),
  sentences.cancelledAfterPickUp(claim),
  sentences.leftBeforePickUp(claim),
  sentences.left(claim),
  sentences.requestRemoved(claim),
  sentences.notPickedUp(claim, 1),
  sentences.notPickedUp({ ...claim, givesUp: false }, 1),
  sentences.silent(claim, 1),
  sentences.silentAfterRemoval(claim, 1),
  sentences.invalidResult(claim, unusable),
  sentences.invalidToTheEnd(claim, unusable, 1),
  sentences.unreadableResult(claim, 'EIO', 1),
  sentences.directoryHangs(claim),
  sentences.cannotGoOn(place, 'EIO'),
];

describe('the sentence of an execution without an answer', () => {
  it.each(all)('says once whether it ran, and so does mayHaveRun: $error', ({ error, mayHaveRun }) => {
    const didNot = error.match(/(did not run|was not run|nothing was sent)/gi) ?? [];
    const may = error.match(/(may have run|may run|it ran|the rule ran|runs at most once)/gi) ?? [];
    expect(mayHaveRun ? may.length : didNot.length).toBeGreaterThan(0);
    if (!mayHaveRun) expect(may.filter((text) => !/at most once/.test(text))).toEqual([]);
  });

  it.each(all)('says no thing twice: $error', ({ error }) => {
    const parts = error.split(/[.:;] /).map((part) => part.toLowerCase().replace(/\W+/g, ' ').trim());
    expect(new Set(parts).size).toBe(parts.length);
    expect(error.match(/\bonline\b/g)?.length ?? 0).toBeLessThan(2);
  });
});
