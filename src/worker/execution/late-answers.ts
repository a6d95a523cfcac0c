import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/periodic.ts';
import { tryEach } from '../../shared/runtime/try-each.ts';
import type { History } from '../../shared/store/history.ts';
import { dialects } from '../dialects/dialect.ts';
import type { Claim, Claims } from '../files/claim.ts';
import { CLAIM_KEPT_MS } from '../files/claim-minutes.ts';
import type { Room } from '../files/memory-budget.ts';
import { removeFiles, resultPath } from '../files/request-file.ts';
import { withResult } from '../files/result-file.ts';
import { placeOf } from './execute.ts';

const LOOK_EVERY_MS = 2000;
const MAX_EXPECTED = 1000;

type Dependencies = {
  claims: Pick<Claims, 'findAnywhere'>;
  history: History;
  sharedDir: string;
  room: Room;
  maxResultBytes: number;
  log: Logger;
};

type Expected = { claim: Claim; until: number };

export type LateResults = ReturnType<typeof createLateResults>;

/** Looks out for answers that come after their execution timed out: they are kept with it, and their files removed. */
export function createLateResults({ claims, history, sharedDir, room, maxResultBytes, log }: Dependencies) {
  const expected = new Map<string, Expected>();
  const incident = createThrottledAlert(log, 'Late results cannot be kept');
  const removal = createThrottledAlert(log, 'Files of late results cannot be removed');
  const cannotKeep = (error: unknown) => incident.begins(error, 'they are tried again');
  const loop = every(LOOK_EVERY_MS, lookForAll, cannotKeep);

  async function lookForAll(): Promise<void> {
    const look = async ([mockId, { claim, until }]: [string, Expected]) => {
      if (Date.now() > until || (await lookFor(claim))) expected.delete(mockId);
    };
    await tryEach(expected, look, cannotKeep);
    incident.ends();
    removal.ends();
  }

  async function lookFor(claim: Claim): Promise<boolean> {
    const { mockId } = claim;
    const place = placeOf(sharedDir, claim);
    const dialect = dialects[claim.dialect];
    const isKept = await withResult(
      resultPath(place),
      { mockId, dialect, maxBytes: maxResultBytes, room },
      async (result) => {
        if (result.kind === 'absent' || result.judgement.kind !== 'answer') return false;
        await history.addLateResult(mockId, result.judgement.body);
        return true;
      },
    );
    if (!isKept) return false;
    await removeFiles(place, claim).catch((error) => removal.begins(error, 'they are left for the sweep'));
    log.info(
      { mockId, app: claim.app, address: claim.address },
      'answered late; the answer is kept with the execution',
    );
    return true;
  }

  /** Its execution timed out after the client had picked it up. Beyond a thousand of them the oldest is given up. */
  function expect(claim: Claim): void {
    expected.set(claim.mockId, { claim, until: Date.now() + CLAIM_KEPT_MS });
    const oldest = expected.keys().next().value;
    if (expected.size > MAX_EXPECTED && oldest !== undefined) expected.delete(oldest);
  }

  return {
    expect,
    /**
     * A result lies there that nobody may be waiting for: the worker that looked out for it may have ended since. Whether it
     * is looked out for now.
     */
    async found(mockId: string): Promise<boolean> {
      if (expected.has(mockId)) return true;
      const record = await history.get(mockId);
      if (record?.outcome?.code !== 'no-answer' || record.lateResult) return false;
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind !== 'claimed') return false;
      expect(decision.claim);
      return true;
    },
    close: () => loop.stop(),
  };
}
