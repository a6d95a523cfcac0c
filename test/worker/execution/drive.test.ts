import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { timeOf } from '../../../src/shared/ports/time.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import { openWait, type Wait } from '../../../src/worker/execution/drive.ts';
import { createProgressReports } from '../../../src/worker/execution/execution.ts';
import type { Facts } from '../../../src/worker/execution/state.ts';
import { type Claim, createClaims } from '../../../src/worker/files/claims/claims.ts';
import { requestFileName, resultFileName } from '../../../src/worker/files/file-names.ts';
import { createKeptAnswers } from '../../../src/worker/files/kept-answers.ts';
import { createMailbox } from '../../../src/worker/files/mailbox.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';
import { createMemoryBudget } from '../../../src/worker/files/results/result-file.ts';
import { createSharedDirectory } from '../../../src/worker/files/shared-directory.ts';
import { createResultWatcher } from '../../../src/worker/files/watch.ts';
import { withDeadline } from '../../support/deadline.ts';
import { resultText } from '../../support/responder.ts';
import { captureLog, quickSettings } from '../../support/start-service.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';
const claim: Claim = {
  ...{ v: 1, mockId, app: 1, address: 'here', lane: null, directoryName: 'here', registered: false, dialect: 'rule' },
  ...{ sdk: 'node', givesUp: true, madeDirectory: false, temporary: `.${mockId}.a1.tmp`, answerBy: 60_000 },
};
const facts: Facts = { claim, marksFirst: false, resultTimeoutMs: 60_000, clientTimeoutMs: 30_000 };
/** Large enough to take memory out of the budget, which is no larger. */
const result = resultText({ mockId }, { 'the service': { text: 'x'.repeat(64 * 1024) } });
/** Longer than a directory that does not respond is waited for, also on a busy machine. */
const OVER_WITHIN_MS = 15_000;

/**
 * A wait in a directory that lets the answer be read, and then does not let the request be removed until the test is over. `isHealthy`: it
 * lets it be removed.
 */
async function setUp({
  isHealthy = false,
  more = [],
}: {
  isHealthy?: boolean;
  more?: Parameters<typeof createProcess>;
} = {}) {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const directory = join(sharedDir, 'mock/1/here');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, requestFileName(mockId)), '{}');
  await writeFile(join(directory, resultFileName(mockId)), result);
  const hangs = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const unlink = () => {
    begun.resolve();
    return hangs.promise;
  };
  const files = isHealthy ? nodeFiles : { ...nodeFiles, unlink, atOnce: { ...nodeFiles.atOnce, unlink } };
  const worker = createProcess(filesOf.as(files), ...more);
  const memory = createMemoryBudget(result.length);
  const wait = worker.run(() => openedIn(sharedDir, memory));
  onTestFinished(async () => {
    wait.close();
    hangs.resolve();
  });
  const run = (begin: (wait: Wait) => void) =>
    worker.run(() => {
      begin(wait);
      return wait.run();
    });
  return { directory, run, memory, removing: begun.promise };
}

function openedIn(sharedDir: string, memory: ReturnType<typeof createMemoryBudget>) {
  const { log } = captureLog();
  const sharedDirectory = createSharedDirectory({ sharedDir, registered: createMemoryDirectory() });
  const watcher = createResultWatcher({ pollIntervalMs: 60_000, log });
  onTestFinished(() => watcher.close());
  const { clock } = sharedDirectory;
  const kept = createKeptAnswers(sharedDir, clock);
  const files = { sharedDirectory, claims: createClaims(sharedDir, clock), keptAnswers: kept };
  const mailbox = createMailbox({ ...files, watcher, memory, settings: quickSettings() });
  return openWait(facts, {
    mailbox,
    progress: createProgressReports(),
    pickUps: { took() {} },
    atStep: () => {},
    onUnreadable: () => {},
    log,
  });
}

const noAnswer = { kind: 'unanswered', noAnswer: { code: 'no-answer', mayHaveRun: true } };

it('an answer that its directory does not let go of after the deadline: the wait ends, and its memory is free again', async () => {
  const { directory, run, memory, removing } = await setUp();
  const over = run((wait) => wait.deadlineIn(0));
  await removing;
  const next = memory.acquire(result.length);
  expect(await withDeadline(over, OVER_WITHIN_MS, 'the end of the wait')).toMatchObject({ ending: noAnswer });
  await withDeadline(next, OVER_WITHIN_MS, 'the memory');
  expect(await readFile(join(directory, resultFileName(mockId)), 'utf8')).toBe(result);
});

it('the same where it began before the deadline', async () => {
  const { run, memory, removing } = await setUp();
  const over = run((wait) => {
    wait.put({ kind: 'result' });
    wait.deadlineIn(500);
  });
  await removing;
  const next = memory.acquire(result.length);
  expect(await withDeadline(over, OVER_WITHIN_MS, 'the end of the wait')).toMatchObject({ ending: noAnswer });
  await withDeadline(next, OVER_WITHIN_MS, 'the memory');
});

it('a worker that stood still beyond its deadline looks for the answer before it says that the directory hangs', async () => {
  const real = timeOf();
  // A timer that is set before it stands still, and comes due meanwhile, fires as soon as it wakes.
  let standsStill = true;
  const setTimeout = (run: () => void, ms: number) => real.setTimeout(run, standsStill && ms > 1000 ? 1 : ms);
  const { run } = await setUp({ isHealthy: true, more: [timeOf.as({ ...real, setTimeout })] });
  const over = run((wait) => {
    wait.deadlineIn(5000);
    standsStill = false;
  });
  const { ending } = await withDeadline(over, OVER_WITHIN_MS, 'the end of the wait');
  expect(ending).toMatchObject({ kind: 'answered' });
});
