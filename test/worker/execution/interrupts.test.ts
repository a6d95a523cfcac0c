import { describe, expect, it } from 'vitest';
import { createInterrupts, HandedOver, type Interrupt } from '../../../src/worker/execution/execution.ts';
import { eventually } from '../../support/eventually.ts';

describe('interrupts', () => {
  it('reach the execution they are for, and only that one', () => {
    const interrupts = createInterrupts();
    const [a, b] = [heardBy(interrupts, 'a'), heardBy(interrupts, 'b')];
    interrupts.cancel({ mockId: 'a', why: 'asked' });
    interrupts.lockLost('b');
    expect([a.heard, b.heard]).toEqual([['asked'], ['handover']]);
  });

  it('a cancel that overtakes its execution waits for it', async () => {
    const interrupts = createInterrupts();
    interrupts.cancel({ mockId: 'a', why: 'caller-left' });
    expect([interrupts.isCancelled('a'), interrupts.isCancelled('b')]).toEqual([true, false]);
    const { heard } = heardBy(interrupts, 'a');
    await eventually(() => expect(heard).toEqual(['caller-left']));
  });

  it('a hand-over reaches everybody, also those who begin to listen later', async () => {
    const interrupts = createInterrupts();
    const before = heardBy(interrupts, 'before');
    expect(interrupts.handingOver).toBe(false);
    interrupts.handOver();
    const after = heardBy(interrupts, 'after');
    await eventually(() => expect([before.heard, after.heard]).toEqual([['handover'], ['handover']]));
    expect(interrupts.handingOver).toBe(true);
  });

  it('what only reads is let go at a hand-over, even if it never ends, and is not begun after one', async () => {
    const interrupts = createInterrupts();
    const reading = interrupts.unlessHandedOver(() => new Promise<never>(() => {}));
    interrupts.handOver();
    await expect(reading).rejects.toThrow(HandedOver);
    await expect(interrupts.unlessHandedOver(() => expect.fail('it began'))).rejects.toThrow(HandedOver);
  });

  it('a lost lock is not remembered: the next try has another one', async () => {
    const interrupts = createInterrupts();
    interrupts.lockLost('a');
    const { heard } = heardBy(interrupts, 'a');
    await Promise.resolve();
    expect(heard).toEqual([]);
  });

  it('who stopped listening hears nothing more, and does not silence who listens now', () => {
    const interrupts = createInterrupts();
    const first = heardBy(interrupts, 'a');
    const second = heardBy(interrupts, 'a');
    first.stop();
    interrupts.lockLost('a');
    second.stop();
    interrupts.lockLost('a');
    expect([first.heard, second.heard]).toEqual([[], ['handover']]);
  });

  it('never more than ten thousand cancels are remembered', () => {
    const interrupts = createInterrupts();
    interrupts.cancel({ mockId: 'old', why: 'asked' });
    for (let number = 0; number < 9999; number++) interrupts.cancel({ mockId: `${number}`, why: 'asked' });
    expect(interrupts.isCancelled('old')).toBe(true);
    for (let number = 0; number < 9999; number++) interrupts.cancel({ mockId: `${number} more`, why: 'asked' });
    expect([interrupts.isCancelled('old'), interrupts.isCancelled('9998 more')]).toEqual([false, true]);
  });
});

function heardBy(interrupts: ReturnType<typeof createInterrupts>, mockId: string) {
  const heard: Interrupt[] = [];
  return { heard, stop: interrupts.listen(mockId, (interrupt) => heard.push(interrupt)) };
}
