import { type NoAnswer, noAnswer } from '../../shared/contract/endings/outcomes.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Overload } from '../overload/overload.ts';
import { type QueueHealth, type StoreAway, whyAway } from '../queue-health.ts';
import type { PendingExecutions } from './pending-executions.ts';

type AdmissionDependencies = {
  health: QueueHealth;
  pending: PendingExecutions;
  overload: Overload;
  settings: Settings;
};

type Arrived = { keyName: string | null; isAdmitted?: boolean };

/** Whether a call can be begun now, before anything of it is stored. */
export function createAdmission({ health, pending, overload, settings }: AdmissionDependencies) {
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

  /** Without workers there is another reason. */
  function tooManyCome(keyName: string | null): NoAnswer | undefined {
    return health.workers === 0 ? undefined : overload.refusal(keyName)?.noAnswer;
  }

  return {
    whyStoreIsAway,
    /** The reason to refuse this call now; undefined if there is none. */
    refusal: ({ keyName, isAdmitted = false }: Arrived): NoAnswer | undefined =>
      storeIsAway() ?? tooManyWait() ?? (isAdmitted ? undefined : tooManyCome(keyName)),
  };
}
