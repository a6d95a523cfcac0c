import { setTimeout as sleep } from 'node:timers/promises';
import type { JobData } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings.ts';
import type { History } from '../../shared/store/history.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import type { Replies } from '../../shared/store/replies.ts';
import { CLAIM_KEPT_MS } from '../files/claim-minutes.ts';
import { createReadItemEnding, type ItemEnding, unknownOutcome } from './item-ending.ts';

/** Events are hints; this often an item is looked up anyway. */
const LOOK_AGAIN_MS = 1000;
/** A clock that differs, and the minute a claim lies under. */
const SWEPT_EARLY_MS = 2 * 60_000;

type Item = { mockId: string; data: JobData };

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  history: History;
  store: Store;
  settings: Settings;
};
export type FollowItems = ReturnType<typeof createFollowItems>;

/** Waits for the ends of items. Workers tell of each; of one that another worker added, only a look tells. */
export function createFollowItems({ backend, queue, history, store, settings }: Dependencies) {
  const read = createReadItemEnding({ history, store });
  const waiting = new Map<string, () => void>();
  let replies: Replies | undefined;

  function listen(): Replies {
    replies ??= backend.openReplies(queue, {
      onReply: ({ id }) => waiting.get(id)?.(),
      onBack: () => {
        for (const wake of waiting.values()) wake();
      },
    });
    return replies;
  }

  /** The end of one item, or null when `signal` aborts first. A job that was lost is added again under its id and time. */
  async function follow({ mockId, data }: Item, signal: AbortSignal): Promise<ItemEnding | null> {
    // After a long time without workers its job may be waiting for one to go on with it.
    const giveUpAt = Math.max(data.claimBy, Date.now()) + apiWaitMs(settings);
    while (!signal.aborted) {
      const hint = new Promise<void>((resolve) => waiting.set(mockId, resolve));
      const ending = await look({ mockId, data }).catch(() => null); // the queue store comes back
      if (ending) {
        waiting.delete(mockId);
        return ending;
      }
      if (Date.now() > giveUpAt) return unknownOutcome(mockId, 'no worker reported its end in time');
      const pause = new AbortController();
      await Promise.race([
        hint,
        sleep(LOOK_AGAIN_MS, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(() => {}),
      ]);
      pause.abort();
    }
    waiting.delete(mockId);
    return null;
  }

  async function look(item: Item): Promise<ItemEnding | null> {
    const { mockId, data } = item;
    const found = await queue.getBackend().isFinished(mockId, true);
    const [status, value] = Array.isArray(found) ? found : [found, ''];
    if (status === 1) return read.fromResult(mockId, parseJson(value));
    if (status === 2) return read.fromReason(mockId, value);
    if (status !== -1) return null;
    const known = await read.fromHistory(mockId);
    if (known) return known;
    if (claimMayBeSwept(data.claimBy))
      return unknownOutcome(mockId, 'the queue store lost it for longer than claims are kept');
    await addExecution(queue, mockId, { ...data, replyTo: listen().address, addedAgain: true });
    return null;
  }

  return {
    follow,
    /** The `replyTo` of the items that are added here, so that their endings are told here. */
    address: () => listen().address,
    close: async () => replies?.close(),
  };
}

/** Whether a claim of that time may have been removed, so that its absence proves nothing. */
export function claimMayBeSwept(claimBy: number): boolean {
  return Date.now() >= claimBy + CLAIM_KEPT_MS - SWEPT_EARLY_MS;
}
