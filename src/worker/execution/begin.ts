import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobData } from '../../shared/contract/job.ts';
import type { RulesOfRun } from '../../shared/contract/rules-of-run.ts';
import { parseTarget, type Target } from '../../shared/contract/target.ts';
import type { Warning } from '../../shared/contract/warning.ts';
import { time } from '../../shared/ports/time.ts';
import type { StoreRun } from '../../shared/queue/queue-backend.ts';
import type { Why } from '../../shared/reasons/causes.ts';
import type { Code } from '../../shared/reasons/codes.ts';
import { asFault } from '../../shared/reasons/template.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Tracing } from '../../shared/runtime/telemetry/tracing.ts';
import type { Client } from '../clients/client.ts';
import {
  CLAIM_VERSION,
  type Claim,
  type ClaimKey,
  type ClaimOrRefusal,
  type Claims,
  NewerClaim,
  type Taken,
  UncertainClaim,
  UnknownClaim,
} from '../files/claims/claims.ts';
import { sdks } from '../files/dialects/dialects.ts';
import { directoryOfClient } from '../files/file-names.ts';
import type { Mailbox } from '../files/mailbox.ts';
import { isFull, whyUnclaimed, whyUnlisted, whyUnwritable } from '../files/reasons.ts';
import type { FileClock, SharedDirectory } from '../files/shared-directory.ts';
import type { ClientSlots } from '../placement/client-slots.ts';
import type { Inspections } from '../placement/inspections.ts';
import { type ResolveTarget, suitsOf } from '../placement/resolve-target.ts';
import type { UnwritableClients } from '../placement/unwritable-clients.ts';
import type { KeptTrees } from '../rules/kept-trees.ts';
import {
  type AtStep,
  type Claimed,
  type Ended,
  type Execution,
  endedWithout,
  HandedOver,
  type Interrupts,
  type Postponed,
  type Workload,
} from './execution.ts';

/** The parts of a worker that beginning an execution needs. */
export type BeginParts = {
  mailbox: Mailbox;
  claims: Claims;
  sharedDirectory: SharedDirectory;
  resolveTarget: ResolveTarget;
  inspections: Inspections;
  slots: ClientSlots;
  keptTrees: KeptTrees;
  workload: Workload;
  unwritable: UnwritableClients;
  storeRun: StoreRun;
  tracing: Pick<Tracing, 'traceparent'>;
  interrupts: Interrupts;
  settings: Settings;
  atStep: AtStep;
};
/** What one function takes of them. */
type Some<Names extends keyof BeginParts> = Pick<BeginParts, Names>;

/** The entry that counts: a claim, ours or that of a faster attempt, or a refusal. `beside`, of our claim, and `repeated`: see `Claimed`. */
type Decided = ClaimOrRefusal & { beside?: () => Promise<Warning[]>; repeated?: ClaimKey };
/** No request could be written for this client, so another one may get it. */
type Unwritable = { kind: 'unwritable'; noAnswer: NoAnswer };
/** A client for an execution. `warnings`: what its caller should know. */
type Chosen = { client: Client; isNewAddress: boolean; warnings: Warning[] };
/** `rules`: what it would run on there. */
type Inspected = Chosen & { rules: RulesOfRun };

/** After so many clients the disk is the likely culprit. */
const CLIENTS_TRIED = 5;
/** Other servers remove empty directories: so one may have to be made again, up to this many times. */
const DIRECTORY_MADE = 5;
/** Errors that say for sure that the refusal was not written. */
const NOT_WRITTEN = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'ENOTDIR']);
/** Refusals that a disk without room may cause: heartbeats cannot be written. */
const NOBODY_ONLINE = new Set<Code>(['no-client', 'client-offline']);

/** An answer may be reported this long after the client's deadline: a little less than the slack of `apiWaitMs`. */
export const PASS_ON_WITHIN_MS = 8000;

/** Whether no worker can still report an answer in time, whatever it knows. */
export function isOverForAll(claimBy: number, clock: FileClock, { RESULT_TIMEOUT_MS }: Settings): boolean {
  return clock.isPast(claimBy + RESULT_TIMEOUT_MS + PASS_ON_WITHIN_MS);
}

/**
 * Begins an execution: with a claim, or with a refusal that ends it. If another attempt wrote one first, that one counts.
 * `Postponed`: this worker wrote neither, and the job goes back to the queue. In this order: look for the claim of an earlier attempt, or of an
 * earlier call under its key, make room for one, choose a client, take a slot there, write the request, hold the key, claim.
 */
export async function begin(execution: Execution, parts: BeginParts): Promise<Claimed | Ended | Postponed> {
  const { mockId, data } = execution;
  try {
    const earlier = execution.firstAttempt ? null : await findEarlier(execution, parts);
    const decided: Decided | Postponed =
      earlier ?? (await findUnderKey(execution, parts)) ?? (await decide(execution, parts));
    if (decided.kind === 'refused') return endedWithout(decided.noAnswer);
    if (decided.kind !== 'claimed') return decided;
    const { claim, repeated } = decided;
    const beside = decided.beside ?? (() => parts.inspections.warningsAgain(claim, data).catch(() => []));
    return { kind: 'claimed', claim, repeated, beside };
  } catch (error) {
    if (error instanceof HandedOver) return { kind: 'give-back' };
    // An execution that fails for ever would never leave the queue.
    const isOver = isOverForAll(data.claimBy, parts.sharedDirectory.clock, parts.settings);
    if (error instanceof NewerClaim && !isOver) return { kind: 'newer' };
    if (!isOver && !(error instanceof UnknownClaim)) throw error;
    return endedWithout(noAnswer('claim-unreadable', { mockId }));
  }
}

/** If the whole shared directory is away, the claim of an earlier attempt is not missing, only out of sight. */
async function findEarlier(
  { mockId, data: { claimBy } }: Execution,
  { sharedDirectory, claims, interrupts }: Some<'sharedDirectory' | 'claims' | 'interrupts'>,
): Promise<ClaimOrRefusal | null> {
  return interrupts.unlessHandedOver(async () => {
    await sharedDirectory.mustBeThere();
    const earlier = await claims.find({ mockId, claimBy });
    // The folder is made before `claimBy` and kept for ten minutes: if it is missing, it may have been swept with its claims.
    if (!earlier && sharedDirectory.clock.isPast(claimBy) && !(await claims.hasFolder({ claimBy })))
      throw new UnknownClaim(`the claims of the time of ${mockId} are gone`);
    return earlier;
  });
}

/**
 * What ran under the key of a keyed call before, although the queue store does not know of it. Before anything else: nobody may be told
 * that it did not run.
 */
async function findUnderKey(
  { mockId, data: { once } }: Execution,
  { sharedDirectory, claims, interrupts }: Some<'sharedDirectory' | 'claims' | 'interrupts'>,
): Promise<Decided | null> {
  if (!once) return null;
  return interrupts.unlessHandedOver(async () => {
    await sharedDirectory.mustBeThere();
    const taken = await claims.findUnder(once);
    return taken && ofTaken(taken, mockId);
  });
}

/** What an execution comes to whose key was taken before. */
function ofTaken({ key, decision, isSameCall }: Taken, mockId: string): Decided {
  if (!isSameCall) return { kind: 'refused', noAnswer: noAnswer('key-reused', {}) };
  if (key.mockId !== mockId) return { kind: 'refused', noAnswer: noAnswer('repeat-unknown', { mockId: key.mockId }) };
  return { ...decision, repeated: key };
}

/** Claims the execution for a client, or refuses it, unless another attempt was first. */
async function decide(execution: Execution, parts: BeginParts): Promise<Decided | Postponed> {
  const { mockId, data } = execution;
  const fault = parts.sharedDirectory.fault();
  if (fault !== null)
    return refuseUnwritten(noAnswer('no-worker-can', asFault(fault)), asFault(fault), execution, parts);
  const noRoom = await makeRoom(data.claimBy, parts);
  if (noRoom) return refuse(noRoom, execution, parts);
  if (parts.interrupts.isCancelled(mockId))
    return refuse(noAnswer('cancelled-before-dispatch', { mockId }), execution, parts);
  const target = parseTarget(data.target);
  if (target.kind === 'malformed')
    return refuse(noAnswer('target-malformed', { field: 'target', ...target.fault }), execution, parts);
  return claimAtOneOf(target, execution, parts);
}

/** Makes the folder for the claim; or tells why no claim may be written. */
async function makeRoom(claimBy: number, { claims }: Some<'claims'>): Promise<NoAnswer | undefined> {
  try {
    return (await claims.prepareUnlessPast({ claimBy })) ? undefined : noAnswer('no-room', {});
  } catch (error) {
    const why = whyUnclaimed(error);
    if (why === undefined) throw error;
    return noAnswer('claims-unwritable', { why });
  }
}

/** A client whose directory cannot be written keeps no call that may go to another one. */
async function claimAtOneOf(target: Target, execution: Execution, parts: BeginParts): Promise<Decided | Postponed> {
  const tried = new Set<string>();
  let first: NoAnswer | undefined;
  for (;;) {
    const choice = await choose(target, execution, tried, parts);
    if (choice.kind === 'refused') return refuse(first ?? choice.noAnswer, execution, parts);
    const outcome = await claimAt(choice, execution, parts);
    if (outcome.kind !== 'unwritable') return outcome;
    first ??= outcome.noAnswer;
    if (target.kind === 'address') return refuse(first, execution, parts);
    parts.unwritable.note(choice.client, outcome.noAnswer);
    tried.add(choice.client.directoryName);
    if (tried.size === CLIENTS_TRIED) return refuse(first, execution, parts);
  }
}

async function choose(
  target: Target,
  { mockId, data }: Execution,
  tried: ReadonlySet<string>,
  parts: Some<'interrupts' | 'resolveTarget' | 'sharedDirectory' | 'settings'>,
): ReturnType<ResolveTarget> {
  const wishes = { mockId, tried, suits: suitsOf(data.input, data.dryRun !== undefined) };
  const choice = await parts.interrupts.unlessHandedOver(() =>
    parts.resolveTarget(data.app, target, wishes).catch((error): Awaited<ReturnType<ResolveTarget>> => {
      const why = whyUnlisted(error);
      if (why === undefined) throw error;
      return { kind: 'refused', noAnswer: noAnswer('clients-unreadable', { app: data.app, why }) };
    }),
  );
  const full = parts.sharedDirectory.whyFull(parts.settings.CLIENT_TIMEOUT_MS);
  const isNobodyOnline = choice.kind === 'refused' && NOBODY_ONLINE.has(choice.noAnswer.code);
  return isNobodyOnline && full !== null ? { kind: 'refused', noAnswer: noAnswer('disk-full', asFault(full)) } : choice;
}

/** The tree of what runs, with what this client publishes of its leaves. */
export function treeAsked(
  { address, lane }: Pick<Client, 'address' | 'lane'>,
  { app, ruleId, confId }: Pick<JobData, 'app' | 'ruleId' | 'confId'>,
) {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  return { app, ruleId: id(ruleId), confId: id(confId), lane, address };
}

/** Takes a slot at the chosen client, writes the request there, and claims the execution unless another attempt was first. */
async function claimAt(
  chosen: Chosen,
  execution: Execution,
  parts: BeginParts,
): Promise<Decided | Postponed | Unwritable> {
  const { client } = chosen;
  if (execution.data.dryRun && !client.dryRun) return refuse(runsNothingDry(client), execution, parts);
  const inspection = await parts.interrupts.unlessHandedOver(() => parts.inspections.inspect(client, execution.data));
  if (inspection.kind === 'refused') return refuse(inspection.noAnswer, execution, parts);
  const noSlot = await takeSlot(client, execution, parts);
  if (noSlot) return noSlot;
  const rules = { ...inspection.rules, loaded: client.loadedVersion };
  const decision = await claimInSlot({ ...chosen, rules }, execution, parts);
  const isOurs = decision.kind === 'claimed' && decision.claim.directoryName === client.directoryName;
  if (!isOurs) return decision;
  const beside = async () => {
    parts.keptTrees.use(
      { ...rules, version: rules.released },
      treeAsked(client, execution.data),
      inspection.takeGraph(),
    );
    return [...chosen.warnings, ...inspection.warnings()];
  };
  return { ...decision, beside };
}

function runsNothingDry({ address, sdk }: Client): NoAnswer {
  return noAnswer('dry-run-unsupported', { field: 'dryRun', client: address, sdk: sdks[sdk].label });
}

/** Undefined once the slot is taken. It is the execution's until it is over here. */
async function takeSlot(
  client: Client,
  execution: Execution,
  parts: Some<'slots' | 'interrupts' | 'workload' | 'sharedDirectory' | 'claims' | 'storeRun'>,
): Promise<ClaimOrRefusal | Postponed | undefined> {
  const { mockId, data, mayWait } = execution;
  const { slots, interrupts, workload } = parts;
  const goOn = () => !interrupts.isCancelled(mockId) && !interrupts.handingOver;
  const until = { deadline: data.claimBy, goOn, onWait: workload.begun };
  const slot = await workload.atClient(() =>
    slots.acquire({ mockId, key: data.keyName }, directoryOf(client, parts), until),
  );
  if (slot === 'taken') return undefined;
  if (slot === 'crowded' && mayWait) return { kind: 'snooze' };
  if (interrupts.handingOver) return { kind: 'give-back' };
  const isCancelled = interrupts.isCancelled(mockId);
  const { address } = client;
  return refuse(
    isCancelled ? noAnswer('cancelled-before-dispatch', { mockId }) : noAnswer('client-full', { address }),
    execution,
    parts,
  );
}

async function claimInSlot(chosen: Inspected, execution: Execution, parts: BeginParts): Promise<Decided | Unwritable> {
  const { client } = chosen;
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await writeAndClaim(chosen, execution, parts);
      } catch (error) {
        if (errnoOf(causeOf(error)) !== 'ENOENT' || attempt === DIRECTORY_MADE) throw error;
        parts.sharedDirectory.forget(directoryOf(client, parts));
      }
    }
  } catch (error) {
    const cause = causeOf(error);
    const why = whyUnwritable(cause);
    if (why === undefined) throw cause;
    const { address, app, directoryName: directory } = client;
    const refusal = noAnswer('request-unwritable', { address, app, directory, why });
    const isItsOwn = error instanceof UnwritableDirectory && !isFull(cause);
    return isItsOwn ? { kind: 'unwritable', noAnswer: refusal } : await refuse(refusal, execution, parts);
  }
}

/** Writes this attempt's request and claims it. If another attempt was first, its claim is the one that counts. */
async function writeAndClaim(chosen: Inspected, execution: Execution, parts: BeginParts): Promise<Decided> {
  const { client } = chosen;
  const { mockId, data } = execution;
  const { mailbox, claims, sharedDirectory } = parts;
  await parts.atStep('before-temporary', mockId);
  const { app, directoryName, registered } = client;
  // Without a registration nobody but us knows that we made it: the directory of a bare client may be gone since it was chosen.
  const path = await sharedDirectory.clientDirectory(app, directoryName, { mark: !registered }).catch(failedWriting);
  let temporary: string | undefined;
  let decision: Decided | undefined;
  let isUncertain = false;
  try {
    const content = { ...data, mockId, traceparent: parts.tracing.traceparent() };
    temporary = await mailbox.put(path, content, client.dialect).catch(failedWriting);
    const claim = claimFor(chosen, { mockId, temporary }, parts.settings);
    const isLate = sharedDirectory.clock.isPast(data.claimBy);
    await parts.atStep('before-claim', mockId); // where a long sleep does the most harm
    decision = isLate
      ? await refuse(noAnswer('no-room', {}), execution, parts)
      : ((await holdKey(execution, parts)) ?? (await claims.claim({ mockId, claimBy: data.claimBy }, claim)));
    return decision;
  } catch (error) {
    // A claim that names the temporary file may be there: without the file it could not be dispatched any more.
    isUncertain = error instanceof UncertainClaim || error instanceof UnknownClaim;
    throw error;
  } finally {
    const winner = decision?.kind === 'claimed' ? decision.claim : undefined;
    if (temporary && !isUncertain && winner?.temporary !== temporary) await mailbox.discard(path, temporary);
    if (!registered && !isUncertain && winner?.directoryName !== directoryName) await mailbox.removeIfNobodyCame(path);
  }
}

/** To be called before the claim. Null when nothing else can be claimed under the key of the execution, or it has none. */
async function holdKey({ mockId, data }: Execution, { claims }: Some<'claims'>): Promise<Decided | null> {
  const taken = data.once && (await claims.hold({ mockId, claimBy: data.claimBy }, data.once));
  return taken ? ofTaken(taken, mockId) : null;
}

function claimFor(
  { client, isNewAddress, rules }: Inspected,
  { mockId, temporary }: Pick<Claim, 'mockId' | 'temporary'>,
  { RESULT_TIMEOUT_MS }: Settings,
): Claim {
  const { app, address, lane, directoryName, registered, dialect, sdk } = client;
  const who = { app, address, lane, directoryName, registered, dialect, sdk, givesUp: sdks[sdk].givesUp };
  const answerBy = time.now() + RESULT_TIMEOUT_MS;
  return { v: CLAIM_VERSION, mockId, ...who, madeDirectory: isNewAddress, temporary, answerBy, rules };
}

/**
 * Refuses an execution unless another attempt was first, and resolves to what counts. A refusal that could not be written counts
 * only if no other attempt ever had the job: an earlier one may be asleep just before its claim, and write it when it wakes up.
 * Otherwise it throws, and the job is tried again.
 */
async function refuse(
  refusal: NoAnswer,
  execution: Execution,
  parts: Some<'claims' | 'storeRun'>,
): Promise<ClaimOrRefusal> {
  const { mockId, data } = execution;
  try {
    return await parts.claims.refuse({ mockId, claimBy: data.claimBy }, refusal);
  } catch (error) {
    if (!NOT_WRITTEN.has(errnoOf(error))) throw error;
    return refuseUnwritten(refusal, { fault: whyUnclaimed(error) }, execution, parts);
  }
}

/**
 * A repeat under an Idempotency-Key has the id of the first call under it, and the queue store may have forgotten an attempt of that call: so
 * the refusal of a keyed call does not say that its rule did not run.
 */
async function refuseUnwritten(
  didNotRun: NoAnswer,
  fault: { fault?: Why | undefined },
  execution: Execution,
  { storeRun }: Some<'storeRun'>,
): Promise<ClaimOrRefusal> {
  const refusal = execution.data.once ? noAnswer('no-worker-for-keyed', fault) : didNotRun;
  if (await isTheOnlyAttempt(execution, storeRun)) return { kind: 'refused', noAnswer: refusal };
  throw new Error(`the refusal of ${execution.mockId} cannot be written, and an earlier attempt may have begun it`);
}

/** The queue store counts attempts. One that was started anew since the job was added may have forgotten an attempt. */
async function isTheOnlyAttempt({ data, firstAttempt }: Execution, storeRun: StoreRun): Promise<boolean> {
  return firstAttempt && data.storeRun !== undefined && data.storeRun === (await storeRun.ask());
}

/** The fault of one client's directory alone. */
class UnwritableDirectory extends Error {}

function failedWriting(cause: unknown): never {
  throw new UnwritableDirectory('the request could not be written', { cause });
}

function causeOf(error: unknown): unknown {
  return error instanceof UnwritableDirectory ? error.cause : error;
}

function directoryOf(client: Client, { sharedDirectory }: Some<'sharedDirectory'>): string {
  return directoryOfClient(sharedDirectory.sharedDir, client);
}
