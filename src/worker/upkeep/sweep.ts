import { join } from 'node:path';
import { CLAIM_KEPT_MS } from '../../shared/contract/claim-age.ts';
import { time } from '../../shared/ports/time.ts';
import { tryEach } from '../../shared/runtime/async.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Task } from '../../shared/runtime/upkeep.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import type { Claims } from '../files/claims/claims.ts';
import { directoryAt, isRealDirectory } from '../files/client-directory.ts';
import { directoryOfClient, isOurFile, MADE_BY_US, readFileName } from '../files/file-names.ts';
import type { KeptAnswers } from '../files/kept-answers.ts';
import { removeIfNobodyCame } from '../files/mailbox.ts';
import { readEntries, rmdir } from '../files/ports/files.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';

type SweepsDependencies = SweepDependencies & {
  clients: Clients;
  pickUps: PickUps;
  keptAnswers: KeptAnswers;
  /** How often files are looked for. */
  everyMs: number;
};

/** What removes files and claims that are no longer needed, kept answers, and directories of clients that are gone. */
export function sweepTasks({ clients, pickUps, keptAnswers, everyMs, ...ofFiles }: SweepsDependencies): Task[] {
  const { sharedDirectory } = ofFiles;
  /** A sweep removes files only from the right directory, and never through a link. */
  const whileThere = (sweep: () => Promise<unknown>) => async () => {
    if (await sharedDirectory.isThere()) await sweep();
  };
  const sweep = createSweep(ofFiles);
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

// Files and claims.

type SweepDependencies = {
  sharedDirectory: SharedDirectory;
  claims: Claims;
  /** For tests: added to the file system's clock. */
  laterMs?: number;
  /**
   * Is told of each result that was found, and says whether it stays, because it may still become the answer of an execution that ended. If
   * not, the sweep removes it once it is old.
   */
  onResult?: (mockId: string) => Promise<boolean>;
  onSwept?: (what: 'files' | 'claim-minutes', count: number) => void;
  log: Logger;
};

/**
 * Removes what executions left that no worker finished: the service's files that are older than a claim can be, then the claims.
 * Ages are by the file system's clock alone; when it cannot be read, nothing is swept.
 */
export function createSweep({
  sharedDirectory,
  claims,
  laterMs = 0,
  onResult = async () => false,
  onSwept = () => {},
  log,
}: SweepDependencies) {
  const incident = createThrottledAlert(log, 'Some files cannot be swept');

  return async function sweep(): Promise<void> {
    let failed = false;
    const onError = (error: unknown) => {
      failed = true;
      incident.begins(error, 'the worker tries again every minute, and sweeps the others; may it remove them?');
    };
    const removed = { files: 0, claimMinutes: 0 };
    const sweepFiles = async (now: number) => {
      const madeBefore = now - CLAIM_KEPT_MS;
      const sweeping = { madeBefore, isAwaited: asking(onResult, onError), onError, onRemoved: () => removed.files++ };
      const sweepApp = async (app: string) =>
        tryEach(await directories(app), (client) => sweepDirectory(client, sweeping), onError);
      await tryEach(await directories(join(sharedDirectory.sharedDir, 'mock')), sweepApp, onError);
    };
    const sweepClaims = async (now: number) => {
      removed.claimMinutes = await claims.sweep(now, onError);
    };
    const sweepPart = async (part: (now: number) => Promise<void>) =>
      part((await sharedDirectory.clock.touch()) + laterMs);
    await tryEach([sweepFiles, sweepClaims], sweepPart, onError);
    if (!failed) incident.ends();
    onSwept('files', removed.files);
    onSwept('claim-minutes', removed.claimMinutes);
    if (removed.files > 0)
      log.info(
        { removed: removed.files, claimMinutes: removed.claimMinutes },
        'swept files that nobody waits for any more',
      );
  };
}

type Sweeping = {
  madeBefore: number;
  isAwaited: (mockId: string) => Promise<boolean>;
  onError: (error: unknown) => void;
  onRemoved: () => void;
};

async function sweepDirectory(path: string, { madeBefore, isAwaited, onError, onRemoved }: Sweeping) {
  const directory = directoryAt(path);
  const names = (await directory.list().catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  const isOld = async (name: string) => {
    const stats = await directory.stat(name).catch(unless('ENOENT'));
    // A client may give its files any mtime, but no ctime.
    return stats !== undefined && Math.max(stats.mtimeMs, stats.ctimeMs) < madeBefore;
  };
  const sweepFile = async (name: string) => {
    const file = readFileName(name);
    if (file?.kind === 'result' && (await isAwaited(file.mockId))) return;
    if (!(await isOld(name))) return;
    await directory.removeAll(name);
    onRemoved();
  };
  await tryEach(names.filter(isOurFile), sweepFile, onError);
  if (names.includes(MADE_BY_US) && (await isOld(MADE_BY_US))) await removeIfNobodyCame(path);
}

/** If the queue store cannot be asked, any of the results may still become an answer: they all stay. */
function asking(onResult: (mockId: string) => Promise<boolean>, onError: (error: unknown) => void) {
  let answers = true;
  return async (mockId: string): Promise<boolean> => {
    if (!answers) return true;
    return onResult(mockId).catch((error) => {
      answers = false;
      onError(error);
      return true;
    });
  };
}

async function directories(path: string): Promise<string[]> {
  const found = (await readEntries(path).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  return found.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

// Directories of clients.

const GONE_FOR_MS = 24 * 60 * 60_000;

type GoneClientsDependencies = { sharedDir: string; clients: Clients; pickUps: Pick<PickUps, 'removeGone'> };

/**
 * Removes the empty directories of registered clients without a heartbeat for a day. A client that was killed has another address
 * when it starts again, so its old directory stays unused for good. A directory with anything in it stays.
 */
export function createSweepGoneClients({ sharedDir, clients, pickUps }: GoneClientsDependencies) {
  return async function sweepGoneClients(): Promise<number> {
    let removed = 0;
    for (const app of await clients.apps()) {
      const all = await clients.list(app).catch(() => []);
      const gone = all.filter(({ online, beatAt }) => !online && beatAt > 0 && time.now() - beatAt > GONE_FOR_MS);
      for (const { directoryName } of gone) {
        const directory = directoryOfClient(sharedDir, { app, directoryName });
        if (!(await isRealDirectory(sharedDir, directory).catch(() => false))) continue;
        removed += await rmdir(directory).then(
          () => 1,
          () => 0, // not empty, or already removed
        );
      }
    }
    await pickUps.removeGone((app) => clients.list(app));
    return removed;
  };
}
