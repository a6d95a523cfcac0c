import { onceOf, type Scope } from '../../shared/contract/determined-id.ts';
import { type Ending, type ReadResult, unanswered } from '../../shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { time } from '../../shared/ports/time.ts';
import { ranNothing } from '../../shared/reasons/endings.ts';
import { AWAY_MS, retry, SOON_MS, within } from '../../shared/runtime/async.ts';
import { isStoreUnavailable } from '../../shared/store/store-error.ts';
import type { Admission } from '../calls/admission.ts';
import type { Fence } from '../calls/pending-executions.ts';
import type { InScene } from '../calls/read-request.ts';
import type { Call, SubmitExecution } from '../calls/submit-execution.ts';
import type { Executions } from '../executions/executions.ts';
import { NewerExecution, unlessNewer } from '../executions/read-jobs.ts';
import type { Idempotency, KeptRecord, KeyedCall } from './idempotency.ts';

/** How a keyed call ended: the execution its key stands for, which may be another one than the one it began. */
type KeyedEnding = { mockId: string; ending: Ending<ReadResult> };

/**
 * The result of a call under an Idempotency-Key. `ending` waits for the end of the one run, whichever API began it; `record` is what is
 * known of that run, when another call began it.
 */
export type Once =
  | { kind: 'other-body' }
  | Exclude<InScene, { kind: 'request' }>
  | { kind: 'refused'; mockId: string; noAnswer: NoAnswer }
  | {
      kind: 'runs';
      mockId: string;
      record: ExecutionRecord | null;
      ending: () => Promise<KeyedEnding>;
      /** Of a run that this call began: resolves at its end. */
      ended?: Promise<unknown>;
    };

const ATTEMPTS = 5;

type RunOnceDependencies = {
  idempotency: Idempotency;
  fence: Fence;
  admission: Admission;
  submitExecution: SubmitExecution;
  executions: Executions;
  /** How long after a call its execution can still come into being. */
  queueTimeoutMs: number;
  waitMs: number;
};
/** A call whose rule is asked for only when it begins: its repeats get its answer, whatever the scene names by then. */
type Asked = Omit<Call, 'request' | 'claimBy' | 'once'> & { bytes: Uint8Array; inScene: () => Promise<InScene> };

type Keyed = Asked & Required<Pick<Call, 'claimBy' | 'once'>>;

export type RunOnce = ReturnType<typeof createRunOnce>;

/**
 * Runs calls under an Idempotency-Key: the same one once, whichever API it reaches, and every caller gets the one answer. A key counts for 24 h
 * from its first call, for one app and one API key. The same call has the same bytes as its body (SHA-256); another body is refused (422).
 * A key whose call was never dispatched is free again. Where the queue store forgot a key, its repeat meets the claim of the first call
 * (`worker/files/claims/claims.ts`). Batches: `api/batches/create-batch.ts`.
 */
export function createRunOnce(dependencies: RunOnceDependencies) {
  const { admission, idempotency, submitExecution, executions, queueTimeoutMs } = dependencies;
  const recordOf = (mockId: string) => executions.find(mockId).catch(unlessNewer);
  const join = createJoin(dependencies);
  const begin = createBegin(dependencies, join);
  const resolve = createResolve(dependencies);
  const runFirst = createRunFirst({ submitExecution, join, begin, again: (scope, asked) => runOnce(scope, asked) });

  const hasRecord = createLookUps(idempotency);

  /**
   * A repeat of a call is never refused for load: its record is looked up first, without writing anything. Where not even that can be done, the
   * refusal says that the rule may have run, because the first call may have.
   */
  async function refusalOf(scope: Scope): Promise<NoAnswer | undefined> {
    const why = admission.whyStoreIsAway();
    if (why !== undefined) return noAnswer('key-record-away', why);
    const refusal = admission.refusal();
    if (!refusal) return undefined;
    const isRepeat = await hasRecord(scope);
    return isRepeat === 'crowded' ? noAnswer('key-not-looked-up', {}) : isRepeat ? undefined : refusal;
  }

  async function runOnce(scope: Scope, asked: Asked): Promise<Once> {
    const refusal = await refusalOf(scope);
    if (refusal) return { kind: 'refused', mockId: asked.mockId, noAnswer: refusal };
    const call = { ...asked, once: onceOf('call', scope, asked.bytes) };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const keyed = { ...call, claimBy: time.now() + queueTimeoutMs };
      const remembered = await idempotency.remember(scope, keyed);
      if (remembered.kind === 'first') return runFirst(scope, asked, { ...keyed, mockId: remembered.mockId });
      if (remembered.kind === 'ended')
        return {
          kind: 'runs',
          mockId: remembered.mockId,
          record: await recordOf(remembered.mockId),
          ending: async () => remembered,
        };
      if (remembered.kind !== 'again') return refused(remembered, call.mockId);
      const { record } = remembered.kept;
      const resolved = await resolve(scope, remembered.kept, keyed);
      if (resolved === 'join') return join(scope, record.mockId, record.claimBy);
      if (resolved === 'begin') return begin(scope, keyed);
      if (resolved === 'unknown') return unknownYet(record.mockId);
    }
    throw new Error('the records under one Idempotency-Key keep changing');
  }

  return runOnce;
}

type First = Pick<RunOnceDependencies, 'submitExecution'> & {
  join: Join;
  begin: ReturnType<typeof createBegin>;
  again: (scope: Scope, asked: Asked) => Promise<Once>;
};

/** Runs a call that is the first one of its key, under the id that the key determines or under its own. */
function createRunFirst({ submitExecution, join, begin, again }: First) {
  /** The key was freed before, by a refusal that is still in the place of its claim: the call runs under another id. */
  async function againIfFenced(scope: Scope, { body: _, ...asked }: Asked, ended: KeyedEnding): Promise<KeyedEnding> {
    if (!wasFenced(ended.ending)) return ended;
    const once = await again(scope, asked);
    return once.kind === 'runs' ? once.ending() : ended;
  }

  return async function runFirst(scope: Scope, asked: Asked, first: Keyed): Promise<Once> {
    const { mockId } = first;
    // The queue store lost key and job of a call that this API has: it adds them again.
    if (submitExecution.isAwaited(mockId)) return join(scope, mockId, first.claimBy);
    const begun = await begin(scope, first);
    // It never was on the queue, and the next call under the key may run under its id.
    if (begun.kind === 'refused' && !begun.noAnswer.mayHaveRun) return { ...begun, mockId: asked.mockId };
    if (begun.kind !== 'runs' || mockId === asked.mockId) return begun;
    return { ...begun, ending: async () => againIfFenced(scope, asked, await begun.ending()) };
  };
}

const LOOKUPS_AT_ONCE = 100;

/** Looks keys up while calls are refused for load; `crowded` when many do so already. */
function createLookUps({ hasRecord }: Pick<Idempotency, 'hasRecord'>) {
  let open = 0;
  return async (scope: Scope): Promise<boolean | 'crowded'> => {
    if (open >= LOOKUPS_AT_ONCE) return 'crowded';
    open++;
    try {
      return await hasRecord(scope);
    } finally {
      open--;
    }
  };
}

type Refusal = Extract<Awaited<ReturnType<Idempotency['remember']>>, { kind: 'answer-gone' | 'full' | 'other-body' }>;

function refused(remembered: Refusal, mockId: string): Once {
  switch (remembered.kind) {
    case 'answer-gone':
      return { kind: 'refused', mockId: remembered.mockId, noAnswer: noAnswer('answer-gone', remembered) };
    case 'full':
      return { kind: 'refused', mockId, noAnswer: noAnswer('keys-full', {}) };
    case 'other-body':
      return remembered;
  }
}

function unknownYet(mockId: string): Once {
  return { kind: 'refused', mockId, noAnswer: noAnswer('may-be-on-its-way', { mockId }) };
}

/**
 * Decides about a call that was made before. A job or a record of it: `join`. Neither: it may still be on its way, so
 * a worker refuses it in the place of its claim, and this call begins in its stead; `again` when another one was faster.
 */
function createResolve({ executions, fence, idempotency }: RunOnceDependencies) {
  async function isKnown({ mockId, at }: KeptRecord['record']): Promise<boolean> {
    const goOn = within(Math.min(at - time.now(), 0) + AWAY_MS);
    const find = () =>
      executions.find(mockId).catch((error) => error instanceof NewerExecution || Promise.reject(error));
    return (await retry(async () => Boolean(await find()) || undefined, { goOn, everyMs: SOON_MS })) ?? false;
  }

  return async (scope: Scope, kept: KeptRecord, call: KeyedCall): Promise<'join' | 'begin' | 'unknown' | 'again'> => {
    const { mockId, claimBy } = kept.record;
    if (await isKnown(kept.record)) return 'join';
    const fenced = await fence(mockId, claimBy);
    if (fenced === 'claimed') return 'join';
    if (fenced === 'unknown') return 'unknown';
    return (await idempotency.replace(scope, kept, call)) ? 'begin' : 'again';
  };
}

type Join = ReturnType<typeof createJoin>;

/** Waits for the end of an execution that another call began, perhaps through another API, perhaps a moment ago. */
function createJoin({ executions, idempotency, waitMs }: RunOnceDependencies) {
  async function endingOf(scope: Scope, mockId: string, knownBy: number, timeIsUp: AbortSignal): Promise<KeyedEnding> {
    for (;;) {
      const ending = await onceThere(() => executions.ending(mockId, timeIsUp), timeIsUp);
      const next = ending && wasFenced(ending) ? await onceThere(() => idempotency.current(scope), timeIsUp) : null;
      if (next !== null && next !== mockId) return endingOf(scope, next, time.now() + AWAY_MS, timeIsUp);
      if (ending) return { mockId, ending };
      if (time.now() > knownBy || timeIsUp.aborted)
        return { mockId, ending: unanswered(noAnswer('ending-unknown', { mockId })) };
      await time.pause(SOON_MS);
    }
  }

  return async function join(scope: Scope, mockId: string, knownBy: number): Promise<Extract<Once, { kind: 'runs' }>> {
    const record = await executions.find(mockId).catch(unlessNewer);
    return {
      kind: 'runs',
      mockId,
      record,
      ending: () => endingOf(scope, mockId, knownBy, time.abortAfter(waitMs)),
    };
  };
}

/** Begins the call its key stands for, and keeps how it ends. */
function createBegin({ idempotency, submitExecution }: RunOnceDependencies, join: Join) {
  async function end(scope: Scope, mockId: string, awaited: Promise<Ending<ReadResult>>): Promise<KeyedEnding> {
    const ending = await awaited;
    if (wasFenced(ending)) {
      const next = await idempotency.current(scope).catch(() => null);
      if (next !== null && next !== mockId) return (await join(scope, next, time.now() + AWAY_MS)).ending();
    }
    // A call that was never dispatched may be made again under its key.
    const dispatched = ending.kind === 'answered' || !ranNothing(ending.noAnswer) || ending.noAnswer.steps;
    const kept = dispatched ? idempotency.keep(scope, mockId, ending) : idempotency.forget(scope, mockId);
    await kept.catch(() => {}); // the record becomes due later, and is closed then
    return { mockId, ending };
  }

  return async function begin(scope: Scope, { inScene, ...call }: Keyed): Promise<Once> {
    const { mockId } = call;
    const found = await inScene();
    if (found.kind !== 'request') {
      await idempotency.forget(scope, mockId).catch(() => {});
      return found;
    }
    const begun = await submitExecution.begin({ ...call, request: found.request });
    if (begun.kind === 'refused') {
      if (!begun.noAnswer.mayHaveRun) await idempotency.forget(scope, mockId).catch(() => {});
      return { ...begun, mockId };
    }
    const ending = end(scope, mockId, begun.ending());
    ending.catch(() => {}); // perhaps no caller waits for it
    return { kind: 'runs', mockId, record: null, ending: () => ending, ended: begun.ended };
  };
}

/** A worker refused it because another call took its place. */
function wasFenced(ending: Ending<ReadResult>): boolean {
  return ending.kind === 'unanswered' && ending.noAnswer.code === 'fenced';
}

/** Asks the queue store again while it is away. Null when `signal` aborted before it was back. */
async function onceThere<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  const goOn = () => !signal.aborted;
  const onError = (error: unknown) => {
    if (!isStoreUnavailable(error)) throw error;
  };
  return (await retry(async () => ({ found: await ask() }), { goOn, onError }))?.found ?? null;
}
