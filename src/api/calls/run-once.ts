import { setTimeout } from 'node:timers/promises';
import { type Ending, type ReadResult, unanswered } from '../../shared/contract/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/outcomes.ts';
import type { State } from '../../shared/contract/states.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { Executions } from '../executions/executions.ts';
import { unlessNewer } from '../executions/newer-execution.ts';
import { createIdempotency, type Scope } from './idempotency.ts';
import type { Call, SubmitExecution } from './submit-execution.ts';

/** What a call under an Idempotency-Key came to. `ending` waits for the end of the one run, whoever began it. */
export type Once =
  | { kind: 'other-body' }
  | { kind: 'refused'; noAnswer: NoAnswer }
  | { kind: 'runs'; mockId: string; state: State; ending: () => Promise<Ending<ReadResult>> };

type Dependencies = {
  store: Store;
  submitExecution: SubmitExecution;
  executions: Executions;
  /** How long after a call its execution can still come into being. */
  queueTimeoutMs: number;
  waitMs: number;
};

export type RunOnce = ReturnType<typeof createRunOnce>;

/** Runs calls under an Idempotency-Key: the same one once, whichever API it reaches, and everybody gets the one answer. */
export function createRunOnce({ store, submitExecution, executions, queueTimeoutMs, waitMs }: Dependencies) {
  const idempotency = createIdempotency({ store, find: executions.find });

  return async function runOnce(scope: Scope, call: Call & { body: Uint8Array }): Promise<Once> {
    const away = submitExecution.storeIsAway();
    if (away) return { kind: 'refused', noAnswer: away };
    const remembered = await idempotency.remember(scope, call);
    switch (remembered.kind) {
      case 'first':
        return first(scope, call);
      case 'again': {
        const { mockId, at } = remembered;
        return runs(mockId, () => endingOfOther(mockId, at + queueTimeoutMs));
      }
      case 'ended':
        return runs(remembered.mockId, async () => remembered.ending);
      case 'other-body':
        return remembered;
    }
  };

  async function first(scope: Scope, call: Call): Promise<Once> {
    const { mockId } = call;
    const begun = await submitExecution.begin(call);
    if (begun.kind === 'refused') {
      if (!begun.noAnswer.mayHaveRun) await idempotency.forget(scope, mockId).catch(() => {});
      return begun;
    }
    const ending = begun.ending().then(async (ending) => {
      // Without a dispatch it is not kept: the next call under the key sees that in its record.
      const dispatched = ending.kind === 'answered' || ending.noAnswer.mayHaveRun || ending.noAnswer.steps;
      if (dispatched) await idempotency.keep(scope, mockId, ending).catch(() => {});
      return ending;
    });
    ending.catch(() => {}); // perhaps nobody waits for it
    return { kind: 'runs', mockId, state: 'queued', ending: () => ending };
  }

  async function runs(mockId: string, ending: () => Promise<Ending<ReadResult>>): Promise<Once> {
    return {
      kind: 'runs',
      mockId,
      state: (await executions.find(mockId).catch(unlessNewer))?.state ?? 'queued',
      ending,
    };
  }

  /** The end of an execution that another call began, perhaps through another API, perhaps a moment ago. */
  async function endingOfOther(mockId: string, knownBy: number): Promise<Ending<ReadResult>> {
    const timeIsUp = AbortSignal.timeout(waitMs);
    for (;;) {
      const ending = await executions.ending(mockId, timeIsUp);
      if (ending) return ending;
      if (Date.now() > knownBy || timeIsUp.aborted) break;
      await setTimeout(100);
    }
    const error = `How execution ${mockId} ended is not known. It may have run; look at the client before running it again.`;
    return unanswered(noAnswer('outcome-unknown', error, { mayHaveRun: true }));
  }
}
