import { every } from '../../shared/runtime/periodic.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { SharedDirectory } from '../files/directory/shared-directory.ts';
import type { KeptAnswers } from '../files/results/kept-answers.ts';
import { createSweep } from './sweep.ts';
import { createSweepGoneClients } from './sweep-gone-clients.ts';

const FILES_EVERY_MS = 60_000;
/** The first sweep, soon after the start: an earlier worker may have died and left files. */
const FIRST_AFTER_MS = 2000;
const ANSWERS_EVERY_MS = 10_000;
const GONE_CLIENTS_EVERY_MS = 60 * 60_000;
/** Other workers know of a last pick-up so much later. */
const PICK_UPS_EVERY_MS = 5000;

type SweepsDependencies = {
  sharedDirectory: SharedDirectory;
  claims: Claims;
  clients: Clients;
  pickUps: PickUps;
  keptAnswers: KeptAnswers;
  /** Is told of each result that was found; resolves to whether an execution still waits for it. */
  onResult: (mockId: string) => Promise<boolean>;
  onSwept: (what: 'files' | 'claim-minutes', count: number) => void;
  log: Logger;
};

/** Removes, again and again, what is no longer needed: files and claims, kept answers, directories of clients that are gone. */
export function startSweeps({
  sharedDirectory,
  claims,
  clients,
  pickUps,
  keptAnswers,
  onResult,
  onSwept,
  log,
}: SweepsDependencies) {
  /** A sweep removes files only from the right directory, and never through a link. */
  const sweepEvery = (ms: number, what: string, sweep: () => Promise<unknown>, firstMs = ms) =>
    every(
      ms,
      async () => {
        if (await sharedDirectory.isThere()) await sweep();
      },
      (error) => log.warn({ err: error }, `the sweep of ${what} failed`),
      firstMs,
    );
  const sweep = createSweep({ sharedDirectory, claims, onResult, onSwept, log });
  const sweepGoneClients = createSweepGoneClients({ sharedDir: sharedDirectory.sharedDir, clients, pickUps });
  const loops = [
    sweepEvery(FILES_EVERY_MS, 'files and claims', sweep, FIRST_AFTER_MS),
    sweepEvery(ANSWERS_EVERY_MS, 'kept answers', async () => keptAnswers.sweep(await sharedDirectory.clock.touch())),
    sweepEvery(GONE_CLIENTS_EVERY_MS, 'directories whose clients are gone', sweepGoneClients),
    sweepEvery(PICK_UPS_EVERY_MS, 'pick-ups', () => pickUps.save().catch(() => {})),
  ];
  return { stop: () => Promise.all(loops.map((loop) => loop.stop())) };
}
