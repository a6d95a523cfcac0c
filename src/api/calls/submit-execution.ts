import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { ExecuteRequest } from '../../shared/contract/execute-request.ts';
import { type JobData, type JobResult, type Once, toJobData } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { Backlog } from '../../shared/queue/backlog.ts';
import type { createCancelSender } from '../../shared/queue/cancels.ts';
import { addExecution, type ExecutionQueue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { Code } from '../../shared/reasons/codes.ts';
import { persist, resultWithin, STORE_BACK_WITHIN_MS } from '../../shared/runtime/async.ts';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { type History, resultKey } from '../../shared/store/history/history.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import { wasNotSent, wasRefused } from '../../shared/store/store-error.ts';
import { STORE_ADVICE } from '../queue-health.ts';
import type { Admission, BodyLease } from './admission.ts';
import type { PendingExecutions } from './pending-executions.ts';

/** A call that is on its way, with its ending to come (`ended` resolves then); or the refusal. */
type Begun =
  | { kind: 'begun'; ended: Promise<unknown>; ending: () => Promise<Ending<ReadResult>> }
  | { kind: 'refused'; noAnswer: NoAnswer };

type SubmitExecutionDependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  pending: PendingExecutions;
  admission: Admission;
  backlog: Backlog;
  cancels: ReturnType<typeof createCancelSender>;
  history: History;
  readAnswer: ReadAnswer;
  privacy: Privacy;
  settings: Settings;
  storeAlert: ThrottledAlert;
  /** A call was refused before it was on the queue. */
  onRefused: (code: Code) => void;
};

export type SubmitExecution = ReturnType<typeof createSubmitExecution>;

/**
 * A call to run: the request, its id, its caller; with `claimBy` and `once` if it is recorded under a key already. `collect`: its
 * answer is fetched later. `body`: its memory is held until the call has ended.
 */
export type Call = {
  mockId: string;
  request: ExecuteRequest;
  keyName: string | null;
  claimBy?: number;
  once?: Once;
  collect?: boolean;
  body?: BodyLease;
};

/** Puts calls on the queue and waits for their end. */
export function createSubmitExecution(dependencies: SubmitExecutionDependencies) {
  const { admission, backend, pending, privacy, readAnswer, settings, onRefused } = dependencies;
  const cancel = createCancel(dependencies);
  const addJob = createAddJob(dependencies);

  /** Begins a call. This API follows it to its end, also when no caller waits for it. */
  async function begin(call: Call): Promise<Begun> {
    const { mockId, request, keyName, claimBy, once, collect = false, body } = call;
    const refusal = admission.refusal();
    if (refusal) return refused(refusal);
    const beginBy = claimBy ?? time.now() + settings.QUEUE_TIMEOUT_MS;
    const stays = collect && privacy.isOff(request.app);
    const added = { replyTo: pending.replyTo, storeRun: backend.run.last() };
    const data = toJobData(request, { ...added, claimBy: beginBy, keyName, once, collect: stays });
    const end = pending.wait(mockId, data, apiWaitMs(settings));
    body?.share();
    end.finally(() => body?.close()).catch(() => {});
    const notStored = await addJob(mockId, data, end);
    if (notStored) {
      pending.settle(mockId, unanswered(notStored));
      return refused(notStored);
    }
    pending.added(mockId);
    return { kind: 'begun', ended: end, ending: async () => readEnding(mockId, await end, readAnswer) };
  }

  function refused(noAnswer: NoAnswer): Begun {
    onRefused(noAnswer.code);
    return { kind: 'refused', noAnswer };
  }

  return {
    begin,
    /** Whether a call here waits for an execution. */
    isAwaited: pending.isAwaited,
    /** Runs a call to its end, also after its caller has left. `callerLeft` aborts when the caller no longer wants the answer. */
    async run(call: Call, callerLeft: AbortSignal): Promise<Ending<ReadResult>> {
      const { mockId } = call;
      const since = time.now();
      const begun = await begin(call);
      if (begun.kind === 'refused') return unanswered(begun.noAnswer);
      const ending = await unlessLeft(callerLeft, () => void cancel(mockId, since), begun.ending);
      letGoOfLarge(dependencies, call, ending);
      return ending;
    },
  };
}

/** Only this API waits for a call, so no other one re-enqueues its job: once it is off the queue, no worker has to be told. */
function createCancel({ pending, cancels, settings }: SubmitExecutionDependencies) {
  return (mockId: string, since: number): Promise<unknown> =>
    persist(since + apiWaitMs(settings), async () => {
      const waits = !pending.mayHaveBegun(mockId, since);
      if (waits && (await pending.cancel(mockId))) return;
      await cancels.send({ mockId, why: 'caller-left' });
    });
}

/** Waits for the task; `onLeave` is called if the caller leaves meanwhile, or has left already. */
async function unlessLeft<T>(callerLeft: AbortSignal, onLeave: () => void, task: () => Promise<T>): Promise<T> {
  callerLeft.addEventListener('abort', onLeave, { once: true });
  if (callerLeft.aborted) onLeave();
  try {
    return await task();
  } finally {
    callerLeft.removeEventListener('abort', onLeave);
  }
}

type Kept = Pick<SubmitExecutionDependencies, 'backend' | 'history' | 'privacy'>;

/** A large result is read once: this call is the only one that waits for it. */
function letGoOfLarge({ backend, history, privacy }: Kept, call: Call, ending: Ending<ReadResult>): void {
  const { mockId, request } = call;
  if (ending.kind !== 'answered' || ending.result.body.length <= INLINE_BYTES) return;
  const done = privacy.isOff(request.app) ? backend.store.remove(resultKey(mockId)) : history.delivered(mockId);
  done.catch(() => {}); // then it stays for a while
}

async function readEnding(mockId: string, ending: Ending, readAnswer: ReadAnswer): Promise<Ending<ReadResult>> {
  if (ending.kind === 'unanswered') return ending;
  const { result } = ending;
  const body = await persist(time.now() + STORE_BACK_WITHIN_MS, () => readAnswer(mockId, result));
  return withAnswer(mockId, ending, body ?? null);
}

type AddJobDependencies = {
  queue: ExecutionQueue;
  backlog: Pick<Backlog, 'added'>;
  storeAlert: ThrottledAlert;
};

type Added = 'added' | NoAnswer;

/**
 * Adds the job of a call to the queue. Resolves to the ending for its caller if that failed. A store that is busy may take its time,
 * and one that lost the connection is asked again: only `claimBy` ends the wait.
 */
function createAddJob({ queue, backlog, storeAlert }: AddJobDependencies) {
  /** `end`: of the execution. Once it has come, a reply that was lost does not matter. */
  return async function addJob(mockId: string, data: JobData, end: Promise<unknown>): Promise<NoAnswer | undefined> {
    backlog.added();
    let isOver = false;
    const over = (): Added => {
      isOver = true;
      return 'added';
    };
    const stored = Promise.race([addOrAddAgain(mockId, data, () => isOver), end.then(over)]);
    const outcome = await resultWithin(data.claimBy - time.now(), { of: stored, late: () => undefined });
    if (outcome === undefined) return noAnswer('not-confirmed', { mockId }); // from `claimBy` on no worker begins it
    return outcome === 'added' ? undefined : outcome;
  };

  async function addOrAddAgain(mockId: string, data: JobData, isOver: () => boolean): Promise<Added | undefined> {
    try {
      await addExecution(queue, mockId, data);
      return 'added';
    } catch (error) {
      storeAlert.begins(error, STORE_ADVICE);
      if (wasNotSent(error)) return noAnswer('not-sent', { why: wasRefused(error) ? 'refused-it' : 'away' });
    }
    // The store took it or not before the connection was lost. A job that is there is not added a second time.
    return persist<Added>(data.claimBy, async () => {
      // Another API may have taken it off the queue since: then it must not come back.
      if (!isOver() && time.now() < data.claimBy) await addExecution(queue, mockId, { ...data, addedAgain: true });
      return 'added';
    });
  }
}

export type ReadAnswer = ReturnType<typeof createReadAnswer>;

/** Reads the text of a client's answer, which travels with its job when it is small and is in the store when it is large. */
export function createReadAnswer({ store, history }: { store: Store; history: History }) {
  return async function readAnswer(mockId: string, { body, stored }: JobResult): Promise<string | null> {
    if (body !== undefined || stored === undefined) return body ?? null;
    // It moves from the store to the history as soon as its job is done.
    return (await store.get(stored)) ?? (await history.result(mockId));
  };
}

/** The same ending with the text of its answer; `body` is null when that could not be read. */
function withAnswer(mockId: string, ending: Ending, body: string | null): Ending<ReadResult> {
  if (ending.kind === 'unanswered') return ending;
  const { result } = ending;
  return body === null
    ? unanswered(noAnswer('answer-unreadable', { mockId, address: result.address }))
    : answered({ ...result, body });
}
