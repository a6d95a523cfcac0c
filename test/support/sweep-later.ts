import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { CLAIM_KEPT_MS } from '../../src/shared/contract/claim-age.ts';
import type { Logger } from '../../src/shared/runtime/telemetry/logger.ts';
import { createMemoryDirectory } from '../../src/shared/store/registered-directory.ts';
import { createClaims } from '../../src/worker/files/claims/claims.ts';
import { createKeptAnswers } from '../../src/worker/files/kept-answers.ts';
import { createFileClock, createSharedDirectory } from '../../src/worker/files/shared-directory.ts';
import { createSweep } from '../../src/worker/upkeep/sweep.ts';

type Options = {
  /** How much later; by default everything has become old. */
  afterMs?: number;
  /** Who looks out for results. */
  onResult?: (mockId: string) => Promise<boolean>;
  log?: Logger;
  /** Is told how much was removed. */
  onSwept?: (what: 'files' | 'claim-minutes', count: number) => void;
};

/** Sweeps a shared directory as a worker does when everything in it has become old, except that nobody has to wait. */
export async function sweepLater(
  sharedDir: string,
  { afterMs = 2 * CLAIM_KEPT_MS, ...more }: Options = {},
): Promise<void> {
  await access(join(sharedDir, '.rule-server'));
  const clock = createFileClock(sharedDir);
  const sweep = createSweep({
    sharedDirectory: createSharedDirectory({ sharedDir, registered: createMemoryDirectory() }),
    claims: createClaims(sharedDir, clock),
    laterMs: afterMs,
    log: pino({ level: 'silent' }),
    ...more,
  });
  await sweep();
  await createKeptAnswers(sharedDir, clock).sweep((await clock.touch()) + afterMs);
}
