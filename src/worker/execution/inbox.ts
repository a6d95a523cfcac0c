import type { Sight } from '../files/unusable-result.ts';
import type { Listing } from '../files/watched-directory.ts';
import type { Interrupt } from './interrupts.ts';

/**
 * The events of an execution that waits for its answer. `result`, `request`: look at that file, which was just seen to be like
 * `sight`. `resumed`: this attempt did not dispatch. `mark`: time to mark it as open. `deadline`: time is up.
 */
export type WaitEvent =
  | { kind: 'result'; sight?: Sight }
  | { kind: 'request' | 'resumed' | 'mark' | 'deadline' }
  | Listing
  | { kind: 'interrupt'; interrupt: Interrupt };

/** A more urgent event came while something was read. */
export class Overtaken extends Error {}

export type Inbox = ReturnType<typeof createInbox>;

/** The events of one wait: one pending of each kind, the urgent ones first, the others in the order they came. */
export function createInbox() {
  const pending = new Map<string, WaitEvent>();
  let wake = () => {};
  let handled = 0;
  let overtake: ((why: Overtaken) => void) | undefined;

  const mostUrgent = () =>
    [...pending.values()].reduce((first, next) => (urgency(next) > urgency(first) ? next : first));
  const isOvertaken = () => pending.size > 0 && urgency(mostUrgent()) > handled;

  return {
    /** Adds an event, or replaces the pending one of its kind. Stops a reading that is less urgent. */
    put(event: WaitEvent): void {
      pending.set(nameOf(event), event);
      wake();
      if (overtake && isOvertaken()) overtake(new Overtaken());
    },
    /** Keeps an event that was overtaken for later, unless a newer one of its kind came. */
    putBack(event: WaitEvent): void {
      if (!pending.has(nameOf(event))) pending.set(nameOf(event), event);
    },
    /** Takes the next event, waiting for one if there is none. */
    async next(): Promise<WaitEvent> {
      while (pending.size === 0) await new Promise<void>((resolve) => (wake = resolve));
      const event = mostUrgent();
      pending.delete(nameOf(event));
      handled = urgency(event);
      return event;
    },
    get isInterrupted(): boolean {
      return [...pending.values()].some(({ kind }) => kind === 'interrupt');
    },
    /**
     * Runs a task that only reads. Rejects with `Overtaken` as soon as there is a more urgent event than the one taken last,
     * however long the task hangs; its signal is aborted then.
     */
    async reading<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (isOvertaken()) throw new Overtaken();
      const abort = new AbortController();
      const { promise, reject } = Promise.withResolvers<never>();
      overtake = (why) => {
        abort.abort(why);
        reject(why);
      };
      try {
        return await Promise.race([task(abort.signal), promise]);
      } finally {
        overtake = undefined;
      }
    },
  };
}

function nameOf(event: WaitEvent): string {
  return event.kind === 'interrupt' ? event.interrupt : event.kind;
}

/** An execution that another worker goes on with is let go before anything else; a cancel comes before the deadline. */
function urgency(event: WaitEvent): number {
  if (event.kind === 'deadline') return 1;
  if (event.kind !== 'interrupt') return 0;
  return event.interrupt === 'handover' ? 3 : 2;
}
