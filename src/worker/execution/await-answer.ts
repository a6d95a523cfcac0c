import { cancelled, timeIsUp } from './give-up.ts';
import { Overtaken, type WaitEvent } from './inbox.ts';
import { lookForAnswer } from './look-for-answer.ts';
import { markAsOpen } from './mark.ts';
import { readListing } from './notice-departure.ts';
import { lookAtRequest } from './notice-pick-up.ts';
import { resume } from './resume.ts';
import type { Wait, WaitEnding } from './wait.ts';

/** Handles one event of a wait at a time until one of them ends it: answered, given up, or left to another worker. */
export async function awaitAnswer(wait: Wait): Promise<WaitEnding> {
  try {
    for (;;) {
      const event = await wait.inbox.next();
      const ending = await handle(event, wait).catch((error) => {
        if (!(error instanceof Overtaken)) throw error;
        wait.inbox.putBack(event);
      });
      if (ending) return ending;
    }
  } finally {
    wait.close();
  }
}

async function handle(event: WaitEvent, wait: Wait): Promise<WaitEnding | undefined> {
  switch (event.kind) {
    case 'result':
      return lookForAnswer(wait, event);
    case 'request':
      return void (await lookAtRequest(wait));
    case 'resumed':
      return resume(wait);
    case 'mark':
      await markAsOpen(wait);
      if (wait.looksOnceMarked) wait.inbox.put({ kind: 'request' });
      return undefined;
    case 'listing':
      return readListing(wait, event);
    case 'deadline':
      return timeIsUp(wait);
    case 'interrupt':
      if (event.interrupt === 'handover') return { kind: 'interrupted' };
      return cancelled(wait, event.interrupt);
    default:
      return event satisfies never;
  }
}
