import type { Batch } from '../../shared/cases/batch.ts';
import { type SkipReason, skip } from '../../shared/reasons/remarks.ts';
import { whatHappened } from '../../shared/reasons/words.ts';
import { isFor } from '../../shared/runtime/access/caller.ts';
import type { Keyring } from '../../shared/runtime/access/keyring.ts';
import { POLL_MS } from '../../shared/runtime/async.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import { every } from '../../shared/runtime/upkeep.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';

type Dependencies = {
  store: BatchStore;
  keyring: Keyring;
  settings: Pick<Settings, 'TRUSTED_USER_HEADER'>;
  log: Logger;
};

/**
 * Stops batches whose key was taken away: it is gone, has expired, or may not run in that app any more. Every API does so with the keys it
 * has; workers have none. A batch that began after this API read its keys may belong to a key that only other APIs know yet.
 */
export function stopRevoked({ store, keyring, settings, log }: Dependencies) {
  const persons = settings.TRUSTED_USER_HEADER !== undefined;

  function whyStopped({ keyName, app, createdAt }: Batch): SkipReason | null {
    if (keyName === null) return null;
    const found = keyring.byName(keyName, persons);
    if (found.kind === 'expired') return skip('batch-key-expired', { name: keyName });
    if (createdAt >= keyring.readAt()) return null;
    if (found.kind === 'unknown') return skip('batch-key-gone', { name: keyName });
    const mayRun = found.caller.may.has('run') && isFor(found.caller, app);
    return mayRun ? null : skip('batch-key-may-not', { name: keyName, app });
  }

  return every(
    POLL_MS,
    async () => {
      if (keyring.isOpen) return;
      for (const batchId of await store.running()) {
        const found = await store.read(batchId);
        if (found === null || found === 'gone') continue;
        const why = whyStopped(found.batch);
        if (why === null || !(await store.change(batchId, ['running'], 'cancelling', why))) continue;
        log.warn({ batchId, keyName: found.batch.keyName }, whatHappened(why));
      }
    },
    () => {}, // the store is away: the next check repeats it
  );
}
