import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Task } from '../../shared/runtime/upkeep.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { KeptAnswers } from '../files/mailbox.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import { createSweep } from './sweep.ts';
import { createSweepGoneClients } from './sweep-gone-clients.ts';

type SweepsDependencies = {
  sharedDirectory: SharedDirectory;
  claims: Claims;
  clients: Clients;
  pickUps: PickUps;
  keptAnswers: KeptAnswers;
  /** How often files are looked for. */
  everyMs: number;
  /** Is told of each result that was found; resolves to whether it may still become an answer. */
  onResult: (mockId: string) => Promise<boolean>;
  onSwept: (what: 'files' | 'claim-minutes', count: number) => void;
  log: Logger;
};

/** What removes files and claims that are no longer needed, kept answers, and directories of clients that are gone. */
export function sweepTasks({
  sharedDirectory,
  claims,
  clients,
  pickUps,
  keptAnswers,
  everyMs,
  onResult,
  onSwept,
  log,
}: SweepsDependencies): Task[] {
  /** A sweep removes files only from the right directory, and never through a link. */
  const whileThere = (sweep: () => Promise<unknown>) => async () => {
    if (await sharedDirectory.isThere()) await sweep();
  };
  const sweep = createSweep({ sharedDirectory, claims, onResult, onSwept, log });
  const sweepGoneClients = createSweepGoneClients({ sharedDir: sharedDirectory.sharedDir, clients, pickUps });
  const sweepAnswers = async () => keptAnswers.sweep(await sharedDirectory.clock.touch());
  return [
    // First soon after the start: an earlier worker may have died and left files.
    { name: 'the sweep of files and claims', everyMs, firstMs: Math.min(2000, everyMs), run: whileThere(sweep) },
    { name: 'the sweep of kept answers', everyMs: 10_000, run: whileThere(sweepAnswers) },
    { name: 'the sweep of clients that are gone', everyMs: 60 * 60_000, run: whileThere(sweepGoneClients) },
    // Other workers know of a last pick-up so much later.
    { name: 'saving pick-ups', everyMs: 5000, run: whileThere(() => pickUps.save().catch(() => {})) },
  ];
}
