import { mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onceOf } from '../../../src/shared/contract/determined-id.ts';
import { JOB_VERSION } from '../../../src/shared/contract/job.ts';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { createMetrics } from '../../../src/shared/runtime/telemetry/metrics.ts';
import { noTracing } from '../../../src/shared/runtime/telemetry/tracing.ts';
import type { Store } from '../../../src/shared/store/key-value-store.ts';
import type { AtStep, Execution, Outcome } from '../../../src/worker/execution/execution.ts';
import type { CleanUp } from '../../../src/worker/execution/finish.ts';
import { createDirectoryParts, createExecutionParts, type DirectoryParts } from '../../../src/worker/process/start.ts';
import { echoes } from '../../support/echoes.ts';
import { memoryStore } from '../../support/memory-stores.ts';
import { createResponder, type Responder } from '../../support/responder.ts';
import { captureLog, quickSettings } from '../../support/start-service.ts';

/** What a file system says that takes no new file: it is full, its quota is used up, it is read-only, or a user may not write. */
const CODES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES'];
const DID_NOT_RUN = 'did not run';
const settings = quickSettings();

let sharedDir: string;
let store: Store;
let backend: QueueBackend;
let client: Responder;
const closings: (() => Promise<unknown> | unknown)[] = [];

beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  store = memoryStore();
  backend = await openQueueBackend(undefined);
  client = await createResponder({ sharedDir, app: 1, does: echoes() });
});
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
  await client.stop();
  await backend.close();
});

describe('an execution whose first worker sleeps just before its claim is not dispatched once another one said that it did not run,', () => {
  it.each(CODES)('when that one can write neither a claim nor a refusal (%s)', async (code) => {
    const sleeper = await asleepBeforeItsClaim();
    const told = await toldBy(await createWorkerThatMayNotClaim(code), { firstAttempt: false });
    await sleeper.wakesAndGoesOn();
    expect([told, client.found.length]).not.toEqual([DID_NOT_RUN, 1]);
  });

  it.each(CODES)('when that one finds no client any more and cannot write its refusal (%s)', async (code) => {
    const sleeper = await asleepBeforeItsClaim();
    const told = await toldBy(await createWorkerThatMayNotClaim(code), { firstAttempt: false, target: 'lane:empty' });
    await sleeper.wakesAndGoesOn();
    expect([told, client.found.length]).not.toEqual([DID_NOT_RUN, 1]);
  });

  it.each(CODES)('when that one cannot make the folder of the claims either (%s)', async (code) => {
    const sleeper = await asleepBeforeItsClaim();
    const told = await toldBy(await createWorkerThatMayNotClaim(code, { makesFolder: false }), { firstAttempt: false });
    await sleeper.wakesAndGoesOn();
    expect([told, client.found.length]).not.toEqual([DID_NOT_RUN, 1]);
  });
});

describe('a worker to which the queue store says that it is the first one', () => {
  const runs = [
    ['was started anew since it took the job', 'an earlier run'],
    ['is not known to be the same that took the job', undefined],
  ] as const;
  const cases = runs.flatMap(([why, storeRun]) => CODES.map((code) => ({ why, storeRun, code })));
  it.each(cases)(
    'does not say that it did not run if it cannot write that ($code), and the store $why',
    async (one) => {
      const sleeper = await asleepBeforeItsClaim();
      const worker = await createWorkerThatMayNotClaim(one.code);
      const told = await toldBy(worker, { firstAttempt: true, storeRun: one.storeRun });
      await sleeper.wakesAndGoesOn();
      expect([told, client.found.length]).not.toEqual([DID_NOT_RUN, 1]);
    },
  );
});

describe('a keyed call, of which an earlier attempt may be forgotten with the store,', () => {
  it.each(CODES)('is not said to have run nothing by a worker that cannot write that (%s)', async (code) => {
    const sleeper = await asleepBeforeItsClaim();
    const once = onceOf('call', { app: 1, keyName: null, key: 'key' }, Buffer.from('body'));
    const outcome = await (await createWorkerThatMayNotClaim(code)).run({ firstAttempt: true, once });
    await sleeper.wakesAndGoesOn();
    expect(client.found).toHaveLength(1);
    expect(outcome).toMatchObject({ ending: { noAnswer: { reason: 'no-worker-for-keyed', mayHaveRun: true } } });
  });
});

it('a directory that a worker made again for a client without a registration goes when nobody comes', async () => {
  const ghost = join(sharedDir, 'mock', '2', 'ghost');
  await mkdir(ghost, { recursive: true });
  const worker = await createWorker({
    atStep: (step) => (step === 'before-temporary' ? rmdir(ghost) : undefined),
    resultTimeoutMs: 500,
  });
  const outcome = await worker.run({ firstAttempt: true, app: 2, target: 'address:ghost' });
  expect(outcome).toMatchObject({ ending: { noAnswer: { code: 'not-picked-up' } } });
  if (outcome.kind === 'ended') await worker.cleanUp(outcome);
  expect(await readdir(join(sharedDir, 'mock', '2'))).toEqual([]);
});

it('an answer is kept for a moment: the queue store may forget that it was told, and the next attempt finds it', async () => {
  const worker = await createWorker({});
  const outcomes: Outcome[] = [];
  for (const firstAttempt of [true, false]) {
    const outcome = await worker.run({ firstAttempt });
    outcomes.push(outcome);
    if (outcome.kind === 'ended') await worker.cleanUp(outcome);
  }
  expect(outcomes).toMatchObject([{ ending: { kind: 'answered' } }, { ending: { kind: 'answered' } }]);
  expect(client.found).toHaveLength(1);
  expect(await readdir(client.directory)).toEqual([]);
});

it('an answer that cannot be kept goes out of the client’s directory', async () => {
  const worker = await createWorker({});
  const outcome = await worker.run({ firstAttempt: true });
  const answers = join(sharedDir, '.rule-server/answers');
  await rm(answers, { recursive: true, force: true });
  await writeFile(answers, 'a file in the way');
  if (outcome.kind === 'ended') await worker.cleanUp(outcome);
  expect(await readdir(client.directory)).toEqual([]);
});

describe('an attempt that finds no answer, because it is not kept any more', () => {
  const silent = async (later: Partial<Attempt>, of?: QueueBackend) => {
    const worker = await createWorker({ resultTimeoutMs: 500, of });
    const outcome = await worker.run({ firstAttempt: true });
    if (outcome.kind === 'ended') await worker.cleanUp(outcome);
    const answers = join(sharedDir, '.rule-server/answers');
    for (const folder of await readdir(answers)) await rm(join(answers, folder), { recursive: true });
    return worker.run({ firstAttempt: false, ...later });
  };
  const unknown = { ending: { noAnswer: { code: 'outcome-unknown', reason: 'ending-unknown', mayHaveRun: true } } };

  it('does not say that the client wrote none, where the queue store forgot the execution', async () => {
    expect(await silent({ addedAgain: true })).toMatchObject(unknown);
  });

  it('nor where another run of a shared queue store brought it back', async () => {
    expect(await silent({ storeRun: 'an earlier one' }, { ...backend, isShared: true })).toMatchObject(unknown);
  });

  it('says so where the queue store is the same', async () => {
    expect(await silent({})).toMatchObject({ ending: { noAnswer: { code: 'no-answer', reason: 'silent' } } });
  });
});

describe('a later attempt that cannot write its refusal', () => {
  it.each(CODES)('says that it may have run, once no worker can report an answer in time (%s)', async (code) => {
    const { RESULT_TIMEOUT_MS } = settings;
    const claimBy = Date.now() - RESULT_TIMEOUT_MS - 60_000;
    const worker = await createWorkerThatMayNotClaim(code);
    await mkdir(worker.claims.folderOf({ claimBy }), { recursive: true });
    expect(await worker.run({ firstAttempt: false, claimBy })).toMatchObject({
      kind: 'ended',
      ending: { kind: 'unanswered', noAnswer: { code: 'outcome-unknown', mayHaveRun: true } },
    });
  });
});

describe('the first attempt that cannot write its refusal', () => {
  it.each(CODES)('says at once that it did not run, where no other one can have begun it (%s)', async (code) => {
    expect(await toldBy(await createWorkerThatMayNotClaim(code), { firstAttempt: true })).toBe(DID_NOT_RUN);
    expect(client.found).toEqual([]);
  });
});

const mockId = '7f3a5c1e-0000-4000-8000-000000000002';
const soon = Date.now() + 60_000;
/** `storeRun`: the run of the queue store that took the job; the present one unless told otherwise. */
type Attempt = Partial<Pick<Execution['data'], 'app' | 'target' | 'claimBy' | 'storeRun' | 'addedAgain' | 'once'>> & {
  firstAttempt: boolean;
};
type Worker = { claims: DirectoryParts['claims']; cleanUp: CleanUp; run(attempt: Attempt): Promise<Outcome> };

/** A worker without its queue: `run` is what it does with a job. `changed`: what differs from the parts of every worker. */
async function createWorker({
  atStep = () => {},
  changed = () => ({}),
  resultTimeoutMs = settings.RESULT_TIMEOUT_MS,
  of = backend,
}: {
  atStep?: AtStep;
  changed?: (directory: DirectoryParts) => Partial<DirectoryParts>;
  resultTimeoutMs?: number;
  of?: QueueBackend | undefined;
}): Promise<Worker> {
  const { log } = captureLog();
  const options = {
    settings: { ...settings, RESULT_TIMEOUT_MS: resultTimeoutMs },
    backend: { ...of, store },
    sharedDir,
    log,
    metrics: createMetrics(),
    tracing: noTracing,
    atStep,
  };
  const directory = createDirectoryParts(options);
  await directory.sharedDirectory.check();
  const { execute, watcher, cleanUp } = createExecutionParts(options, { ...directory, ...changed(directory) });
  closings.push(watcher.close);
  return {
    claims: directory.claims,
    cleanUp,
    run: ({ firstAttempt, ...more }) => {
      const ids = { v: JOB_VERSION, app: 1, ruleId: '1', confId: null, ts: null, keyName: null };
      const asked = { target: 'all', input: '{"the service":{}}', claimBy: soon, storeRun: backend.run.last() };
      const data: Execution['data'] = { ...ids, ...asked, ...more };
      return execute.run({ mockId, data, takenAt: Date.now(), firstAttempt, mayWait: true });
    },
  };
}

/** A worker whose writes below `.rule-server/claims` fail, and only these: so it goes on taking jobs. */
function createWorkerThatMayNotClaim(code: string, { makesFolder = true } = {}): Promise<Worker> {
  const fail = () => Promise.reject(Object.assign(new Error(`${code}: not written`), { code }));
  return createWorker({
    changed: ({ claims }) => ({
      claims: { ...claims, claim: fail, refuse: fail, ...(!makesFolder && { prepareUnlessPast: fail }) },
    }),
  });
}

/** A worker that began the execution, and sleeps between its look at the time and its claim. */
async function asleepBeforeItsClaim() {
  const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const worker = await createWorker({
    atStep(step) {
      if (step !== 'before-claim') return;
      asleep.resolve();
      return awake.promise;
    },
  });
  const outcome = worker.run({ firstAttempt: true });
  await asleep.promise;
  return {
    async wakesAndGoesOn() {
      awake.resolve();
      await outcome;
    },
  };
}

/** What the caller hears after an attempt; an attempt that throws is made again, so that the caller goes on waiting. */
async function toldBy(worker: Worker, attempt: Attempt): Promise<string> {
  const outcome = await worker.run(attempt).catch(() => null);
  if (outcome?.kind !== 'ended') return 'nothing yet';
  const { ending } = outcome;
  if (ending.kind === 'answered') return 'the answer';
  return ending.noAnswer.mayHaveRun ? 'may have run' : DID_NOT_RUN;
}
