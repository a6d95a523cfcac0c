import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { answered } from '../../shared/contract/endings/ending.ts';
import { endingOf, wasNeverDispatched } from '../../shared/contract/execution-record.ts';
import { time } from '../../shared/ports/time.ts';
import type { Notes } from '../../shared/store/notes/notes.ts';
import type { Fence } from '../calls/fence.ts';
import type { Executions } from '../executions/executions.ts';
import type { Idempotency } from './idempotency.ts';

const NOTES_AT_ONCE = 50;
const AGAIN_AFTER_MS = 20_000;

type CloseNotesDependencies = {
  notes: Notes;
  idempotency: Idempotency;
  executions: Executions;
  fence: Fence;
  /** Whether answers of an app are not kept. */
  keepsNothing: (app: number) => boolean;
};

/**
 * Looks at notes whose call has no ending although no worker may begin it any more: the API that took it died, or could not
 * write. Its ending is kept with the note, or the execution is fenced and its key freed, before its claim can be swept.
 */
export function createNoteCloser({ notes, idempotency, executions, fence, keepsNothing }: CloseNotesDependencies) {
  async function close(key: string): Promise<void> {
    const kept = await idempotency.readAt(key);
    if (!kept) return;
    const { text, note } = kept;
    const { mockId, claimBy } = note;
    const execution = await executions.whole(mockId);
    if (execution) {
      const { record, result } = execution;
      if (wasNeverDispatched(record)) return void (await notes.change(key, text, null));
      const ending = endingOf(record, result);
      const { app } = record;
      if (ending?.kind === 'unanswered') await idempotency.keepAt(key, { app, mockId, ending });
      else if (ending && (result !== null || keepsNothing(app)))
        await idempotency.keepAt(key, { app, mockId, ending: answered({ ...ending.result, body: result ?? '' }) });
      else if (ending) await notes.change(key, text, text);
    } else if (claimMayBeSwept(claimBy, time.isPast)) await notes.change(key, text, text);
    else if ((await fence(mockId, claimBy)) === 'fenced') await notes.change(key, text, null);
  }

  return async function closeDue(): Promise<void> {
    const keys = await notes.due(NOTES_AT_ONCE, AGAIN_AFTER_MS);
    await Promise.all(keys.map((key) => close(key).catch(() => {})));
  };
}
