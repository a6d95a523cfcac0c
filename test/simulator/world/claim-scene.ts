import { JOB_VERSION, type JobData } from '../../../src/shared/contract/job.ts';
import { time } from '../../../src/shared/seams/time.ts';
import type { Execution, Outcome } from '../../../src/worker/execution/execution.ts';
import { createFence } from '../../../src/worker/queries/fence.ts';
import { createSweep } from '../../../src/worker/upkeep/sweep.ts';
import type { Scene } from '../search/schedule.ts';
import { type Behaviour, bodyOf, createClient } from './clients.ts';
import { createDisk, type Disk } from './disk.ts';
import type { Gate } from './gate.ts';
import { createScheduler, hashOf, type Ready } from './scheduler.ts';
import { createSimulatedFiles, type Noticed } from './simulated-files.ts';
import { createSimulatedBackend } from './simulated-queue.ts';
import { createStore } from './store.ts';
import { createWorkerParts, SHARED, settingsOf, startProcess, type WorkerParts } from './worker-process.ts';

/** Who takes part: two attempts of one execution, the sweep, the fence of its key, and the client that runs the rule. */
export type Part = 'attempt 1' | 'attempt 2' | 'sweeper' | 'fence' | 'client';

export type ClaimScene = {
  parts: readonly Part[];
  /** Whether the queue store says of attempt 2 that nobody was before it. */
  forgotCount?: boolean;
  client?: Partial<Behaviour>;
  /** How many older copies of the disk a look may see. */
  staleBy?: number;
  /** When the sweep and the fence begin, ms after `claimBy`. */
  sweepsAfterMs?: number;
  fencesAfterMs?: number;
};

const MOCK_ID = '00000000-0000-4000-8000-000000000001';
const APP = 1;
const STARTS_AT = 1_700_000_000_000;
const QUEUE_TIMEOUT_MS = 2000;
const settings = settingsOf({ QUEUE_TIMEOUT_MS, RESULT_TIMEOUT_MS: 1200, POLL_INTERVAL_MS: 1000 });
/** The client goes on for so many of its looks once everybody else is done: it may run what lies there. */
const CALM_SCANS = 2.2;

/** What became of one who takes part. */
type Told = { by: Part; what: 'answered' | 'did not run' | 'may have run' | 'nothing'; body?: string };

/** One execution, and everything that decides about its claim, on a simulated disk. */
export async function claimScene(options: ClaimScene): Promise<Scene> {
  const { parts, staleBy = 0 } = options;
  const scheduler = createScheduler(STARTS_AT);
  const disk = createDisk({ now: scheduler.epoch });
  const store = createStore({ now: scheduler.epoch });
  for (const path of [SHARED, `${SHARED}/mock`, `${SHARED}/mock/${APP}`]) disk.as('operator').mkdir(path);
  const copies = keepCopies(disk, staleBy);
  const runs: string[] = [];
  const told: Told[] = [];
  let doneAt: number | undefined;

  const onWatch = ({ process, name }: Noticed, deliver: () => void) =>
    scheduler.tell(process, `event ${name}`, deliver);
  const disks = scheduler.gate(disk, (asked) => asked.writes && copies.changed());
  // A path that begins with a handle is told by the place that the handle stands for.
  const gate: Gate<Disk> = (asked, act) =>
    disks({ ...asked, on: asked.on.map((path) => disk.as(asked.process).locate(path)) }, act);
  // Where the sweep comes after ten minutes, a client that looks twice a second would do nothing else.
  const scansEveryMs = parts.includes('sweeper') ? 60_000 : 500;
  const client = createClient({
    ...{ name: 'client', address: 'here', sdk: 'node', registered: false, app: APP, lane: null, sharedDir: SHARED },
    behaviour: { scansEveryMs, runsMs: 20, ...options.client },
    gate: (asked, act) => gate(asked, (all) => act(all.as(asked.process))),
    time: scheduler.timeOf('client'),
    onRun: (mockId) => void runs.push(mockId),
  });
  client.establish(disk.as('client'));

  const data: JobData = {
    ...{ v: JOB_VERSION, app: APP, ruleId: '1', confId: null, ts: null, target: 'address:here', keyName: null },
    ...{ input: '{"n":9007199254740993}', claimBy: STARTS_AT + QUEUE_TIMEOUT_MS, storeRun: store.runId() },
  };
  const acts: Record<Part, () => Promise<void>> = {
    'attempt 1': () => attempt('attempt 1', true),
    'attempt 2': () => attempt('attempt 2', options.forgotCount ?? false),
    sweeper: () => sweep(),
    fence: () => fence(),
    client: async () => void client.start(),
  };

  async function attempt(name: Part, firstAttempt: boolean): Promise<void> {
    const worker = workers.get(name);
    if (!worker) return;
    const execution: Execution = { mockId: MOCK_ID, data, takenAt: time.now(), firstAttempt, mayWait: false };
    const outcome = await worker.execute.run(execution).catch((): Outcome => ({ kind: 'give-back' }));
    told.push(toldBy(name, outcome));
    if (outcome.kind === 'ended') await worker.cleanUp(outcome);
  }

  async function sweep(): Promise<void> {
    await time.pause(QUEUE_TIMEOUT_MS + (options.sweepsAfterMs ?? 11 * 60_000));
    const worker = workers.get('sweeper');
    if (worker) await createSweep({ ...worker, onResult: worker.lateResults.found })();
    told.push({ by: 'sweeper', what: 'nothing' });
  }

  async function fence(): Promise<void> {
    await time.pause(QUEUE_TIMEOUT_MS + (options.fencesAfterMs ?? 10));
    const worker = workers.get('fence');
    const answer = worker ? await createFence(worker)({ mockId: MOCK_ID, claimBy: data.claimBy }) : undefined;
    const isFenced = answer?.kind === 'found' && answer.body.includes('fenced');
    told.push({ by: 'fence', what: isFenced ? 'did not run' : 'nothing' });
  }

  const workers = new Map<Part, WorkerParts>();
  const starts: (() => void)[] = [];
  const open = parts.filter((part) => part !== 'client');
  await scheduler.atOnce(async () => {
    for (const part of open) {
      const files = createSimulatedFiles({ process: part, gate, onWatch });
      const process = startProcess(part, scheduler, files);
      await process.run(async () => {
        const worker = createWorkerParts(
          settings,
          createSimulatedBackend({ process: part, gate: scheduler.gate(store) }),
        );
        workers.set(part, worker);
        await worker.lateResults.close(); // what comes late is another world's matter
        await worker.sharedDirectory.check();
      });
      starts.push(() => void process.run(acts[part]));
    }
  });
  scheduler.start('client');
  for (const start of starts) start();
  if (parts.includes('client')) void acts.client();

  return {
    scheduler,
    broken: () => whatIsBroken(runs, told),
    isOver() {
      const isDone = open.every((part) => !scheduler.isAlive(part) || told.some(({ by }) => by === part));
      doneAt = isDone ? (doneAt ?? scheduler.now) : undefined;
      return doneAt !== undefined && scheduler.now - doneAt >= CALM_SCANS * scansEveryMs;
    },
    state: () => String(hashOf(JSON.stringify([disk.state(), runs, told]))),
    staleFor: (ready: Ready) => (ready.kind === 'step' && ready.asked.seam === 'files' ? copies.older() : []),
    close: () => scheduler.close(),
  };
}

/** Copies of a disk as it was before each of its last changes, newest first. */
function keepCopies(disk: Disk, count: number) {
  let now = disk.copy();
  let older: Disk[] = [];
  return {
    changed(): void {
      if (count === 0) return;
      older = [now, ...older].slice(0, count);
      now = disk.copy();
    },
    older(): Disk[] {
      for (const copy of older) copy.takeHandlesOf(disk);
      return older;
    },
  };
}

function toldBy(by: Part, outcome: Outcome): Told {
  if (outcome.kind !== 'ended') return { by, what: 'nothing' };
  const { ending } = outcome;
  if (ending.kind === 'answered') return { by, what: 'answered', body: ending.result.body ?? '' };
  return { by, what: ending.noAnswer.mayHaveRun ? 'may have run' : 'did not run' };
}

/** A rule runs at most once; whoever was told that it did not run is not followed by a run; an answer is the client's. */
function whatIsBroken(runs: readonly string[], told: readonly Told[]): string | undefined {
  if (runs.length > 1) return `the rule ran ${runs.length} times`;
  const refused = told.find(({ what }) => what === 'did not run');
  if (refused && runs.length > 0) return `${refused.by} was told that it did not run, and it ran`;
  const wrong = told.find(({ what, body }) => what === 'answered' && body !== bodyOf(MOCK_ID, 'node'));
  if (wrong) return `${wrong.by} was told another answer than the client's: ${wrong.body}`;
  const answered = told.find(({ what }) => what === 'answered');
  return answered && runs.length === 0 ? `${answered.by} was told an answer, and nothing ran` : undefined;
}
