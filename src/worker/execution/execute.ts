import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobData } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { Code } from '../../shared/reasons/codes.ts';
import { asFull } from '../../shared/reasons/template.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Tracing } from '../../shared/runtime/telemetry/tracing.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import type { Claim } from '../files/claims/claims.ts';
import { fileSystemOf } from '../files/file-system.ts';
import type { ClientLoad } from '../placement/client-load.ts';
import { type BeginParts, begin, PASS_ON_WITHIN_MS, treeAsked } from './begin.ts';
import { openWait, type Surroundings, toEvent, type Wait } from './drive.ts';
import { type Claimed, type Ended, type Execution, endedWithout, type Outcome, type Workload } from './execution.ts';
import {
  type Accepted,
  type CleanUp,
  type ReportEnding,
  type Taken,
  toEnded,
  traceExecution,
  withSteps,
} from './finish.ts';
import { INSTANT_MS } from './next.ts';
import type { Facts, WaitEnding } from './state.ts';

type ExecuteParts = BeginParts &
  Surroundings & {
    store: Store;
    /** Whether the queue store is a server of its own, which may lose what it said. The embedded one ends with this process. */
    isShared: boolean;
    privacy: Privacy;
    tracing: Tracing;
    workload: Workload;
    pickUps: PickUps;
    load: Pick<ClientLoad, 'isRunning'>;
    cleanUp: CleanUp;
    report: ReportEnding;
  };

export type Execute = ReturnType<typeof createExecute>;

/**
 * One execution, from the job to the client's answer. Whatever dies or sleeps in between, a rule is dispatched at most
 * once: the claim is written first and once, it names one temporary file, and renaming that file is the dispatch.
 */
export function createExecute(parts: ExecuteParts) {
  const { slots, progress, tracing, workload, cleanUp, report } = parts;
  return {
    /** Begins the execution or goes on with it, and resolves to how it ended in this worker. */
    run: (execution: Execution): Promise<Outcome> => workload.during(() => run(execution)),

    /** To be called once the queue accepted the ending of this job: only then do the files go. */
    async finish(taken: Taken, ended: Ended, accepted: Accepted): Promise<void> {
      await Promise.all([cleanUp(ended), report(taken, ended, accepted)]);
    },
  };

  async function run(execution: Execution): Promise<Outcome> {
    const { mockId } = execution;
    try {
      // A claim or a refusal: the first that was written counts.
      const begun = await begin(execution, parts).finally(workload.begun);
      const outcome = begun.kind === 'claimed' ? await dispatchAndWait(begun, execution.data, parts) : begun;
      if (outcome.kind !== 'ended') return outcome;
      const ended = withSteps(outcome, progress.of(mockId));
      traceExecution(tracing, execution, ended);
      return ended;
    } finally {
      slots.release(mockId);
      progress.detach(mockId);
    }
  }
}

/** The same for every attempt, whichever one claimed: dispatch what the claim names, wait for its answer, say how it ended. */
async function dispatchAndWait(begun: Claimed, data: JobData, parts: ExecuteParts): Promise<Outcome> {
  const { claim, repeated } = begun;
  const { input, once } = data;
  const { mailbox, interrupts, inspections, slots, keptTrees, store, privacy, workload, atStep } = parts;
  slots.occupy({ mockId: claim.mockId, key: data.keyName }, mailbox.directoryOf(claim)); // another attempt may have claimed for another client
  const wait = openWait(factsOf(claim, parts), parts);
  const stopInterrupts = interrupts.listen(claim.mockId, (interrupt) => wait.put(toEvent(interrupt)));
  try {
    const isOurs = await dispatch(wait, { claimBy: repeated?.claimBy ?? data.claimBy, once }, parts);
    const besideWait = begun.beside();
    besideWait.catch(() => {}); // awaited below
    const { ending, mark } = await workload.atClient(wait.run);
    await atStep('result-read', claim.mockId);
    if (ending.kind === 'interrupted') return { kind: 'give-back' };
    await notePickUp(claim, ending, parts);
    const marked = mark !== 'none' || !isOurs;
    if (ending.kind === 'answered' && ending.answer.rules) keptTrees.use(ending.answer.rules, treeAsked(claim, data));
    const forgotten = repeated ? 'repeat-unknown' : !isOurs && mayBeForgotten(data, parts) ? 'ending-unknown' : null;
    const learnt = forgotten ? unlessForgotten(ending, noAnswer(forgotten, { mockId: claim.mockId })) : ending;
    const reported = withFullDisk(data.dryRun === undefined ? learnt : unlessIgnored(learnt, claim), parts);
    const isReleased = () => inspections.isReleased(claim.app, claim.rules?.released ?? null);
    const ended = await toEnded(
      reported,
      { claim, warnings: await besideWait, marked },
      { store, privacy, input, isReleased },
    );
    await atStep('before-completion', claim.mockId);
    return ended;
  } catch (error) {
    // Tried again as long as the API waits: an answer may be there that only could not be passed on.
    if (time.now() < claim.answerBy + PASS_ON_WITHIN_MS) throw error;
    return endedWithout(
      noAnswer('wait-broken', { address: claim.address, mockId: claim.mockId, why: errnoOf(error) || 'internal' }),
      claim,
    );
  } finally {
    stopInterrupts();
    wait.close();
  }
}

/** Clients look into their directories every few seconds. A request that was taken back after so long was left lying. */
const LAY_MS = 10_000;

/** Remembers whether the client took the request. One that runs a rule meanwhile may only have had no time for it. */
async function notePickUp(
  claim: Claim,
  ending: Exclude<WaitEnding, { kind: 'interrupted' }>,
  { pickUps, load, progress, settings: { RESULT_TIMEOUT_MS } }: ExecuteParts,
): Promise<void> {
  if (ending.kind === 'answered') return pickUps.took(claim);
  const { code } = ending.noAnswer;
  const since = claim.answerBy - RESULT_TIMEOUT_MS;
  const wasPickedUp = progress.of(claim.mockId)?.steps.some(({ state }) => state === 'picked-up') ?? false;
  const isCancelledLate = code === 'cancelled' && !wasPickedUp && time.now() - since >= LAY_MS;
  if (claim.madeDirectory || !(code === 'not-picked-up' || isCancelledLate)) return;
  if (!(await load.isRunning(claim))) await pickUps.letLie(claim, since);
}

/** A client that cannot write is silent, or leaves half an answer. */
function withFullDisk(
  ending: Exclude<WaitEnding, { kind: 'interrupted' }>,
  { sharedDirectory, settings }: Pick<ExecuteParts, 'sharedDirectory' | 'settings'>,
): typeof ending {
  const full = sharedDirectory.whyFull(settings.CLIENT_TIMEOUT_MS);
  if (full === null || ending.kind === 'answered' || ending.noAnswer.code === 'cancelled') return ending;
  return {
    kind: 'unanswered',
    noAnswer: { ...ending.noAnswer, params: { ...ending.noAnswer.params, ...asFull(full) } },
  };
}

/** Whether an earlier attempt may have ended, and the queue store lost its ending: it lost the job, or came back as it was before. */
function mayBeForgotten(data: JobData, { storeRun, isShared }: Pick<ExecuteParts, 'storeRun' | 'isShared'>): boolean {
  return data.addedAgain === true || (isShared && data.storeRun !== storeRun.last());
}

/** Endings that go by what was seen. */
const SEEN = new Set<Code>(['cancelled', 'invalid-result']);

/** An earlier attempt may have been answered, and the answer went with its record: what is missing by now tells nothing about the client. */
function unlessForgotten(ending: Exclude<WaitEnding, { kind: 'interrupted' }>, forgotten: NoAnswer): typeof ending {
  if (ending.kind === 'answered' || !ending.noAnswer.mayHaveRun || SEEN.has(ending.noAnswer.code)) return ending;
  return { kind: 'unanswered', noAnswer: forgotten };
}

/** An answer to a dry run counts only if it says that it was one. */
function unlessIgnored(ending: Exclude<WaitEnding, { kind: 'interrupted' }>, claim: Claim): typeof ending {
  if (ending.kind === 'unanswered' || ending.answer.isDry) return ending;
  ending.answer.lease.release();
  const { address } = claim;
  const reason = ending.answer.showsRun ? 'dry-run-ignored' : 'dry-run-impossible';
  return { kind: 'unanswered', noAnswer: noAnswer(reason, { address }) };
}

function factsOf(claim: Claim, { mailbox, settings }: ExecuteParts): Facts {
  const { RESULT_TIMEOUT_MS: resultTimeoutMs, CLIENT_TIMEOUT_MS: clientTimeoutMs } = settings;
  return { claim, marksFirst: mailbox.marksFirst(claim), resultTimeoutMs, clientTimeoutMs };
}

/** Makes the request visible, unless another attempt did, and says what is to happen next. Resolves to whether this attempt did it. */
async function dispatch(
  wait: Wait,
  claimed: Pick<JobData, 'claimBy' | 'once'>,
  { mailbox, progress, atStep, log }: ExecuteParts,
): Promise<boolean> {
  const { claim, marksFirst, resultTimeoutMs } = wait.facts;
  const { mockId, address, registered, answerBy } = claim;
  if (marksFirst) wait.marked(await mailbox.mark(claim));
  await mailbox.flush(claim, claimed);
  await atStep('before-dispatch', mockId);
  // Not when the wait is over before its request is seen.
  const isWanted = time.now() < answerBy && !wait.isInterrupted;
  const isOurs = isWanted && (await mailbox.dispatch(claim));
  await atStep('dispatched', mockId);
  if (isOurs) progress.reached(mockId, address, 'dispatched');
  else {
    wait.put({ kind: 'resumed' });
    if (isWanted) log.info({ mockId, app: claim.app, address }, 'goes on with what another worker had dispatched');
  }
  // Until the client takes its request the directory is not empty, so an instant client needs no mark. Over a network calls take longer, and a mark takes six trips.
  const soon = fileSystemOf(mailbox.directoryOf(claim)).isLocal ? INSTANT_MS : 10 * INSTANT_MS;
  if (registered && !marksFirst) wait.later(isOurs ? soon : 0, { kind: 'mark' });
  // `answerBy` is by the clock of the worker that claimed. If that clock was ahead, this worker still waits RESULT_TIMEOUT_MS at most.
  wait.deadlineIn(Math.max(0, Math.min(answerBy - time.now(), resultTimeoutMs)));
  return isOurs;
}
