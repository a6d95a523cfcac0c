import { type NoAnswer, noAnswer, TRY_AGAIN_OR_SCALE } from '../../shared/contract/outcomes.ts';
import type { Settings } from '../../shared/runtime/settings.ts';
import { type QueueHealth, whyAway } from '../queue-health.ts';
import type { PendingExecutions } from './await-ending.ts';

type Dependencies = { health: QueueHealth; pending: PendingExecutions; settings: Settings };

/** Whether a call can be begun now, before anything of it is stored. */
export function createAdmission({ health, pending, settings }: Dependencies) {
  function storeIsAway(): NoAnswer | undefined {
    if (health.up) return undefined;
    const error = `The queue store ${whyAway(health.full)}, so nothing was sent. It did not run. Try again in a moment.`;
    return noAnswer('queue-unavailable', error, { mayHaveRun: false });
  }

  function tooManyWait(): NoAnswer | undefined {
    const waiting = Math.max(health.waiting, pending.waiting - health.active);
    if (waiting < settings.MAX_QUEUED) return undefined;
    const error = `${waiting} executions are waiting already. This one did not run. ${TRY_AGAIN_OR_SCALE}`;
    return noAnswer('overloaded', error, { mayHaveRun: false });
  }

  return {
    /** The reason to refuse every call now; undefined if there is none. */
    storeIsAway,
    /** The reason to refuse this call now; undefined if there is none. */
    refusal: (): NoAnswer | undefined => storeIsAway() ?? tooManyWait(),
  };
}
