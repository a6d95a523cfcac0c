import { join } from 'node:path';
import type { Warning } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { parseTarget } from '../../shared/contract/target.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Client } from '../clients/client.ts';
import { CLAIM_VERSION, type Claim, type Decision, UncertainClaim, UnknownClaim } from '../files/claim.ts';
import { mockDirectory } from '../files/file-names.ts';
import { removeIfNobodyCame, removeTemporary, writeTemporary } from '../files/request-file.ts';
import type { Resolution } from '../placement/resolve-target.ts';
import { refusals } from '../refusals.ts';
import type { Dependencies, Execution } from './execute.ts';

/**
 * `claimed`: this execution has its claim now, ours or that of an attempt that was faster. `refused`: this attempt has a
 * reason not to begin it, which counts unless another attempt claims first. `warnings` are about the client of our claim.
 * `hand-back`: this worker stops, and nothing was begun. `later`: nothing was begun, and it should wait in the queue.
 */
export type Begun = (Decision & { warnings?: Warning[] }) | { kind: 'hand-back' } | { kind: 'later' };

const ATTEMPTS = 5;

type Chosen = Extract<Resolution, { kind: 'client' }>;

/** Begins an execution that nobody has begun: chooses a client, writes the request, and claims it unless somebody was first. */
export function createBeginExecution({
  claims,
  sharedDirectory,
  resolveTarget,
  inspections,
  slots,
  interrupts,
  settings,
  atStep,
}: Dependencies) {
  const { clock } = sharedDirectory;

  return async function beginExecution(execution: Execution): Promise<Begun> {
    const { mockId, data } = execution;
    try {
      if (!clock.isPast(data.claimBy)) await claims.prepare({ mockId, claimBy: data.claimBy });
    } catch (error) {
      // When all claims are out of sight, only the first attempt knows that there is none.
      const refusal =
        execution.firstAttempt || errnoOf(error) !== 'ENOENT' ? refusals.claimsUnwritable(error) : undefined;
      if (refusal) return refuse(refusal);
      throw error;
    }
    if (clock.isPast(data.claimBy)) return refuse(refusals.tooLate());
    if (interrupts.isCancelled(mockId)) return refuse(refusals.cancelled(mockId));

    const target = parseTarget(data.target);
    if (target.kind === 'malformed') return refuse(refusals.badRequest('target', target.message));
    const resolved = await resolveTarget(data.app, target).catch((error): Resolution => {
      const noAnswer = refusals.clientsUnreadable(error, data.app);
      if (noAnswer) return { kind: 'refused', noAnswer };
      throw error;
    });
    if (resolved.kind === 'refused') return refuse(resolved.noAnswer);
    try {
      return await beginAt(resolved, execution);
    } finally {
      resolved.release();
    }
  };

  async function beginAt({ client, unknown, release }: Chosen, execution: Execution): Promise<Begun> {
    const { mockId, data } = execution;
    const inspection = await inspections.inspect(client, data);
    if (inspection.kind === 'refused') return refuse(inspection.noAnswer);
    const path = join(mockDirectory(sharedDirectory.sharedDir, client.app), client.directoryName);
    const goOn = () => !interrupts.isCancelled(mockId) && !interrupts.handingOver;
    const place = await slots.acquire(path, data.claimBy, goOn);
    if (place === 'crowded' && execution.mayWait) return { kind: 'later' };
    if (place !== 'taken') {
      if (interrupts.handingOver) return { kind: 'hand-back' };
      return refuse(interrupts.isCancelled(mockId) ? refusals.cancelled(mockId) : refusals.clientFull(client));
    }
    release();
    try {
      const decision = await claimInDirectory(client, execution, unknown);
      const isOurs = decision.kind === 'claimed' && decision.claim.directoryName === client.directoryName;
      return isOurs ? { ...decision, warnings: inspection.warnings } : decision;
    } catch (error) {
      const refusal = refusals.channelUnavailable(error, client);
      if (refusal) return refuse(refusal);
      throw error;
    } finally {
      slots.release(path);
    }
  }

  /** Other servers remove empty directories: one that was there, or made, a moment ago may have to be made again. */
  async function claimInDirectory(client: Client, execution: Execution, unknown: boolean): Promise<Decision> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await claimAt(client, execution, unknown);
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
        sharedDirectory.forget(join(mockDirectory(sharedDirectory.sharedDir, client.app), client.directoryName));
      }
    }
  }

  /** Writes this attempt's request and claims it. When another attempt was first, its claim is the one that counts. */
  async function claimAt(client: Client, { mockId, data }: Execution, unknown: boolean): Promise<Decision> {
    const { app, address, lane, directoryName, registered, dialect, sdk } = client;
    const key = { mockId, claimBy: data.claimBy };
    await atStep('before-temporary', mockId);
    const { path } = await sharedDirectory.clientDirectory(app, directoryName, { mark: unknown });
    const place = { directory: path, mockId };
    let temporary: string | undefined;
    let winner: Claim | undefined;
    let isUncertain = false;
    try {
      temporary = await writeTemporary(path, { ...data, mockId }, dialect);
      const claim: Claim = {
        v: CLAIM_VERSION,
        mockId,
        app,
        address,
        lane,
        directoryName,
        registered,
        dialect,
        sdk,
        givesUp: sdk === 'node' || sdk === 'java' || sdk === 'python',
        madeDirectory: unknown,
        temporary,
        answerBy: Date.now() + settings.RESULT_TIMEOUT_MS,
      };
      const late = clock.isPast(data.claimBy);
      await atStep('before-claim', mockId); // where a long sleep does the most harm
      const decision = await claims.decide(key, late ? refuse(refusals.tooLate()) : { kind: 'claimed', claim });
      if (decision.kind === 'claimed') winner = decision.claim;
      return decision;
    } catch (error) {
      isUncertain = error instanceof UncertainClaim || error instanceof UnknownClaim;
      throw error;
    } finally {
      // A claim that names the temporary file may be there: without the file nobody could dispatch it any more.
      const isDispensable = winner?.temporary !== temporary && !isUncertain;
      if (temporary !== undefined && isDispensable) await removeTemporary(place, temporary);
      if (unknown && !isUncertain && winner?.directoryName !== directoryName) await removeIfNobodyCame(path);
    }
  }
}

function refuse(noAnswer: NoAnswer): Decision {
  return { kind: 'refused', noAnswer };
}
