import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Backlog } from '../../shared/queue/backlog.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import { type QueueHealth, type StoreAway, whyAway } from '../queue-health.ts';
import type { PendingExecutions } from './pending-executions.ts';

/** Of QUEUE_TIMEOUT_MS. The rest is for what the expected wait does not know: other APIs, and workers that become slower. */
const LONGEST_WAIT = 0.6;

type AdmissionDependencies = {
  health: Pick<QueueHealth, 'up' | 'full' | 'waiting' | 'active' | 'workers'>;
  pending: Pick<PendingExecutions, 'waiting'>;
  backlog: Pick<Backlog, 'delayMs'>;
  settings: Pick<Settings, 'MAX_QUEUED' | 'QUEUE_TIMEOUT_MS'>;
};

export type Admission = ReturnType<typeof createAdmission>;

/**
 * Whether a call can be begun now, before anything of it is stored. It bounds the calls that wait on the queue, and how long a new one would
 * wait there. Other limits on calls: the calls of a key (`access/limits.ts`), the bytes of their bodies (`open-bodies.ts`), and in a worker
 * the executions of one client (`placement/client-slots.ts`) and the file operations at once (`files/client-directory.ts`).
 */
export function createAdmission({ health, pending, backlog, settings }: AdmissionDependencies) {
  /** Why the queue store takes no calls; undefined when it takes them. */
  const whyStoreIsAway = (): StoreAway | undefined => (health.up ? undefined : whyAway(health.full));

  function storeIsAway(): NoAnswer | undefined {
    const why = whyStoreIsAway();
    return why === undefined ? undefined : noAnswer('not-sent', why);
  }

  function tooManyWait(): NoAnswer | undefined {
    const waiting = Math.max(health.waiting, pending.waiting - health.active);
    return waiting < settings.MAX_QUEUED ? undefined : noAnswer('too-many-wait', { waiting });
  }

  /** More calls come than workers can begin in time. Without workers there is another reason. */
  function waitsTooLong(): NoAnswer | undefined {
    const waitMs = backlog.delayMs();
    if (health.workers === 0 || waitMs <= LONGEST_WAIT * settings.QUEUE_TIMEOUT_MS) return undefined;
    return noAnswer('too-many-calls', { seconds: Math.ceil(waitMs / 1000) });
  }

  return {
    whyStoreIsAway,
    waitsTooLong,
    /** The reason to refuse a call now; undefined if there is none. */
    refusal: (): NoAnswer | undefined => storeIsAway() ?? tooManyWait() ?? waitsTooLong(),
  };
}
