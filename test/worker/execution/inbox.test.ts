import { describe, expect, it } from 'vitest';
import { createInbox } from '../../../src/worker/execution/drive.ts';

const listing = (name: string) => ({ kind: 'listing' as const, names: new Set([name]), registered: true });

describe('the inbox of a wait', () => {
  it('has one event of each kind, the last of its kind, in the order in which the kinds came', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    inbox.put(listing('first'));
    inbox.put({ kind: 'result' });
    inbox.put(listing('second'));
    expect([await inbox.next(0), await inbox.next(0)]).toEqual([{ kind: 'result' }, listing('second')]);
  });

  it('gives a hand-over before a cancel, a cancel before the deadline, and these before everything else', async () => {
    const inbox = createInbox();
    for (const event of [
      { kind: 'result' },
      { kind: 'deadline' },
      { kind: 'cancel', why: 'asked' },
      { kind: 'hand-over' },
    ] as const)
      inbox.put(event);
    const order = [await inbox.next(0), await inbox.next(0), await inbox.next(0), await inbox.next(0)];
    expect(order.map(({ kind }) => kind)).toEqual(['hand-over', 'cancel', 'deadline', 'result']);
  });

  it('waits for an event when there is none that is urgent enough', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    const next = inbox.next(1);
    inbox.put({ kind: 'mark' });
    inbox.put({ kind: 'deadline' });
    expect(await next).toEqual({ kind: 'deadline' });
    expect([await inbox.next(0), await inbox.next(0)].map(({ kind }) => kind)).toEqual(['result', 'mark']);
  });

  it('takes back what was given up, unless a newer one of its kind came', async () => {
    const inbox = createInbox();
    inbox.putBack(listing('first'));
    inbox.put(listing('second'));
    inbox.putBack(listing('first'));
    expect(await inbox.next(0)).toEqual(listing('second'));
  });

  it('fails whoever waits when something that was done failed', async () => {
    const inbox = createInbox();
    const next = inbox.next(0);
    inbox.fail(new Error('the disk is on fire'));
    await expect(next).rejects.toThrow('the disk is on fire');
  });

  it('knows what was done and not told when the wait was over: an ending that is as urgent came before it', async () => {
    const inbox = createInbox();
    const outcome = { kind: 'client', is: 'here' } as const;
    inbox.put({ kind: 'hangs' });
    inbox.put({ kind: 'done', outcome });
    expect(inbox.leftOutcome()).toBe(outcome);
    expect(await inbox.next(0)).toEqual({ kind: 'hangs' });
    expect(inbox.leftOutcome()).toBe(outcome);
    await inbox.next(0);
    expect(inbox.leftOutcome()).toBeUndefined();
  });
});
