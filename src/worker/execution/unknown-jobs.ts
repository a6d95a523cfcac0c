import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { JOB_VERSION, jobEnvelopeSchema } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import { AWAY_MS } from '../../shared/runtime/async.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { ClaimOrRefusal, Claims } from '../files/claims/claims.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import { isOverForAll } from './begin.ts';

const unreadable = (mockId: string) => noAnswer('job-unreadable', { mockId }, { unrecorded: true });

type UnknownJobsDependencies = { claims: Claims; sharedDirectory: SharedDirectory; settings: Settings; log: Logger };

export type UnknownJobs = ReturnType<typeof createUnknownJobs>;

/** Handles jobs and claims of a newer version: snoozes them for a newer worker, and ends them once none took them in time. */
export function createUnknownJobs({ claims, sharedDirectory, settings, log }: UnknownJobsDependencies) {
  const incident = createThrottledAlert(log, 'Jobs of a newer version are handed back');
  const backoff = createBackoff();

  /** Null before its time. The refusal takes the place of a claim: a newer worker that slept cannot begin it any more. */
  async function decide(key: { mockId: string; claimBy: number }, v: number): Promise<ClaimOrRefusal | null> {
    await sharedDirectory.mustBeThere();
    if (await claims.prepareUnlessPast(key)) return null;
    return claims.refuse(key, noAnswer('job-too-new', { v, known: JOB_VERSION }));
  }

  return {
    /** How a job ends whose data this worker cannot read; undefined as long as another one may know it. */
    async endingOf(mockId: string, data: unknown): Promise<NoAnswer | undefined> {
      const envelope = jobEnvelopeSchema.safeParse(data);
      if (!envelope.success) return unreadable(mockId);
      const { v, claimBy } = envelope.data;
      const decision = await decide({ mockId, claimBy }, v).catch((error) => {
        log.debug({ mockId, err: error }, 'the claim of a job of a newer version cannot be decided yet');
      });
      if (decision?.kind === 'refused') return { ...decision.noAnswer, unrecorded: true };
      return isOverForAll(claimBy, sharedDirectory.clock, settings) ? unreadable(mockId) : undefined;
    },

    /** How long one that is handed back stays away. */
    awayMs(what: string): number {
      incident.begins(new Error(`the first is ${what}`), 'start a worker of that version; replace workers before APIs');
      return backoff();
    },

    /** Something that is known was done. */
    ends: incident.ends,
  };
}

const APART_MS = 5;

/** The delays of jobs that are requeued. They come back at most 200 a second, so that requeueing never fills a core. */
export function createBackoff() {
  let lastAt = Number.NEGATIVE_INFINITY;
  return function awayMs(): number {
    const now = time.monotonic();
    lastAt = Math.max(now + AWAY_MS, lastAt + APART_MS);
    return lastAt - now;
  };
}
