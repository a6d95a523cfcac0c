import { describe, expect, it } from 'vitest';
import { createInbox, Overtaken } from '../../../src/worker/execution/inbox.ts';

const listing = (name: string) => ({ kind: 'listing' as const, names: new Set([name]), registered: true });
const never = () => new Promise<never>(() => {});

describe('the inbox of a wait', () => {
  it('has one event of each kind, the last of its kind, in the order in which the kinds came', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    inbox.put(listing('first'));
    inbox.put({ kind: 'result' });
    inbox.put(listing('second'));
    expect([await inbox.next(), await inbox.next()]).toEqual([{ kind: 'result' }, listing('second')]);
  });

  it('gives a hand-over before a cancel, a cancel before the deadline, and these before everything else', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    inbox.put({ kind: 'deadline' });
    inbox.put({ kind: 'interrupt', interrupt: 'asked' });
    inbox.put({ kind: 'interrupt', interrupt: 'handover' });
    const order = [await inbox.next(), await inbox.next(), await inbox.next(), await inbox.next()];
    expect(order.map((event) => (event.kind === 'interrupt' ? event.interrupt : event.kind))).toEqual([
      'handover',
      'asked',
      'deadline',
      'result',
    ]);
  });

  it('waits for an event when there is none', async () => {
    const inbox = createInbox();
    const next = inbox.next();
    inbox.put({ kind: 'mark' });
    expect(await next).toEqual({ kind: 'mark' });
  });

  it('what only reads is aborted by a more urgent event, even if it never ends', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    await inbox.next();
    let signal: AbortSignal | undefined;
    const reading = inbox.reading((given) => {
      signal = given;
      return never();
    });
    inbox.put({ kind: 'request' });
    expect(signal?.aborted).toBe(false);
    inbox.put({ kind: 'deadline' });
    await expect(reading).rejects.toThrow(Overtaken);
    expect(signal?.aborted).toBe(true);
  });

  it('what only reads does not begin while something more urgent waits', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'result' });
    await inbox.next();
    inbox.put({ kind: 'interrupt', interrupt: 'handover' });
    await expect(inbox.reading(() => expect.fail('it began'))).rejects.toThrow(Overtaken);
  });

  it('the deadline is aborted by a cancel only, and what was overtaken comes again', async () => {
    const inbox = createInbox();
    inbox.put({ kind: 'deadline' });
    const deadline = await inbox.next();
    const reading = inbox.reading(never);
    inbox.put({ kind: 'result' });
    inbox.put({ kind: 'interrupt', interrupt: 'caller-left' });
    await expect(reading).rejects.toThrow(Overtaken);
    inbox.putBack(deadline);
    expect([await inbox.next(), await inbox.next()].map(({ kind }) => kind)).toEqual(['interrupt', 'deadline']);
  });
});
