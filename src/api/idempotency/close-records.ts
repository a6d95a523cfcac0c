import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { answered } from '../../shared/contract/endings/ending.ts';
import { endingOf, wasNeverDispatched } from '../../shared/contract/execution-record.ts';
import { time } from '../../shared/ports/time.ts';
import type { IdempotencyRecords } from '../../shared/store/idempotency/idempotency-records.ts';
import type { Fence } from '../calls/pending-executions.ts';
import type { Executions } from '../executions/executions.ts';
import type { Idempotency } from './idempotency.ts';

const RECORDS_AT_ONCE = 50;
const AGAIN_AFTER_MS = 20_000;

type CloseRecordsDependencies = {
  records: IdempotencyRecords;
  idempotency: Idempotency;
  executions: Executions;
  fence: Fence;
  /** Whether answers of an app are not kept. */
  keepsNothing: (app: number) => boolean;
};

/**
 * Closes the records of calls without an ending that no worker may begin any more: their API died, or could not write. The ending is kept
 * with the record, or the execution is fenced and its key freed, before its claim can be swept.
 */
export function createRecordCloser({
  records,
  idempotency,
  executions,
  fence,
  keepsNothing,
}: CloseRecordsDependencies) {
  async function close(key: string): Promise<void> {
    const kept = await idempotency.readAt(key);
    if (!kept) return;
    const { text } = kept;
    const { mockId, claimBy } = kept.record;
    const execution = await executions.whole(mockId);
    if (execution) {
      const { record, result } = execution;
      if (wasNeverDispatched(record)) return void (await records.change(key, text, null));
      const ending = endingOf(record, result);
      const { app } = record;
      if (ending?.kind === 'unanswered') await idempotency.keepAt(key, { app, mockId, ending });
      else if (ending && (result !== null || keepsNothing(app)))
        await idempotency.keepAt(key, { app, mockId, ending: answered({ ...ending.result, body: result ?? '' }) });
      else if (ending) await records.change(key, text, text);
    } else if (claimMayBeSwept(claimBy, time.isPast)) await records.change(key, text, text);
    else if ((await fence(mockId, claimBy)) === 'fenced') await records.change(key, text, null);
  }

  return async function closeDue(): Promise<void> {
    const keys = await records.due(RECORDS_AT_ONCE, AGAIN_AFTER_MS);
    await Promise.all(keys.map((key) => close(key).catch(() => {})));
  };
}
