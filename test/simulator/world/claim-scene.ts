import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { JOB_VERSION, type JobData } from '../../../src/shared/contract/job.ts';
import { type Time, type Timer, time } from '../../../src/shared/ports/time.ts';
import { errnoOf } from '../../../src/shared/runtime/errno.ts';
import type { Execution, Outcome } from '../../../src/worker/execution/execution.ts';
import type { FileStats } from '../../../src/worker/files/ports/operations.ts';
import { createFence } from '../../../src/worker/queries/fence.ts';
import { createSweep } from '../../../src/worker/upkeep/sweep.ts';
import { isRequest, possible, type Touch, type Touched } from '../search/conflicts.ts';
import type { Scene } from '../search/schedule.ts';
import { type Behaviour, bodyOf, createClient } from './clients.ts';
import { createDisk, type Disk } from './disk.ts';
import type { Asked, Gate } from './gate.ts';
import { createScheduler, hashOf, type Made, type Ready, type Scheduler } from './scheduler.ts';
import { createSimulatedFiles, type Noticed } from './simulated-files.ts';
import { createSimulatedBackend } from './simulated-queue.ts';
import { createStore } from './store.ts';
import { createWorkerParts, SHARED, settingsOf, startProcess, type WorkerParts } from './worker-process.ts';

const WORKERS = ['attempt 1', 'attempt 2', 'sweeper', 'second sweeper', 'fence', 'late fence'] as const;
type Worker = (typeof WORKERS)[number];
/**
 * Who takes part: two attempts of one execution, the sweep, the fence of its key (while it may begin, or when its time is over), the
 * client that runs the rule, another server that removes the client's directory when it is empty, and somebody who puts a link there.
 */
export type Part = Worker | (typeof CLIENTS)[number] | 'cleaner' | 'linker';
/** The second one is a mistake: two programs that take what is in one directory. */
const CLIENTS = ['client', 'twin'] as const;

export type ClaimScene = {
  parts: readonly Part[];
  /** Whether the queue store says of attempt 2 that nobody was before it: it lost its data, and is another run since. */
  forgotCount?: boolean;
  /** Everything that a process writes fails with this code. */
  cannotWrite?: { part: Part; code: string };
  /** Whether the file system has no symbolic links. */
  hasNoLinks?: boolean;
  client?: Partial<Behaviour>;
  /** Whether the client is registered: then the worker knows that it gives up on a request that is gone. */
  isRegistered?: boolean;
  /** How many older copies of the disk a look may see. */
  staleBy?: number;
  target?: 'address:here' | 'all';
  /** Whether there is a directory for a client at all; if not, a worker makes it. */
  isNewAddress?: boolean;
  /** When the sweeps are, ms since the beginning of the world; a second sweeper comes for the last of them. */
  sweepsAt?: readonly number[];
  /** How far clocks are ahead of the file server's, ms. */
  aheadMs?: Partial<Record<Part, number>>;
  /** How far the clock of the API is ahead, which says when the execution must have begun. */
  apiAheadMs?: number;
  /** When attempt 2 and the late fence begin, ms since the beginning of the world. */
  secondAt?: number;
  lateFenceAt?: number;
  /** Whether the client, who lives and can write, is owed an answer in every schedule: nothing in it keeps a call from its client. */
  mustAnswer?: boolean;
  /** Whether nothing may be left of the execution at the end. */
  leavesNothing?: boolean;
};

const MOCK_ID = '00000000-0000-4000-8000-000000000001';
const APP = 1;
const STARTS_AT = 1_700_000_000_000;
/** An attempt that sleeps until it is too late to begin can dispatch yet what it has claimed. */
export const QUEUE_TIMEOUT_MS = 1000;
export const RESULT_TIMEOUT_MS = 2000;
const settings = settingsOf({ QUEUE_TIMEOUT_MS, RESULT_TIMEOUT_MS, POLL_INTERVAL_MS: 1000 });
const HOME = `${SHARED}/mock/${APP}/here`;
const ELSEWHERE = '/elsewhere';
/** What there is once a service has run for a while. */
const FOLDERS = [
  ...[SHARED, `${SHARED}/mock`, `${SHARED}/mock/${APP}`, ELSEWHERE],
  ...['', '/claims', '/answers', '/clocks'].map((name) => `${SHARED}/.rule-server${name}`),
];
/** Claims of the execution are swept from 10 min after its minute on. */
export const SWEEP_AT = QUEUE_TIMEOUT_MS + 11 * 60_000;
/** The client looks this often, and at once when something changes in its directory: it may look at any time. */
const SCANS_EVERY_MS = 60_000;
/** It looks so often once everybody else is done: it may run what lies there. */
const CALM_SCANS = 2;
/** A job that a worker gives back is tried again so often, and so much later. */
const TRIES = 4;
const AGAIN_MS = 250;
/** Who was never answered is not waited for any longer. */
const HANGS_MS = 20_000;

/** What became of one who takes part. `afterAnswer`: it began when another one had told the answer. */
type Told = {
  by: Part;
  what: 'answered' | 'did not run' | 'may have run' | 'nothing';
  body?: string;
  afterAnswer?: boolean;
};

/** One execution, and everything that decides about its claim, on a simulated disk. */
export async function claimScene(options: ClaimScene): Promise<Scene & { outcome(): string }> {
  const { parts, staleBy = 0, sweepsAt = [SWEEP_AT] } = options;
  const scheduler = createScheduler(STARTS_AT);
  const disk = createDisk({ now: scheduler.epoch, inodes: 'never again' });
  const store = createStore(scheduler.timeOf('store'));
  for (const path of FOLDERS) disk.as('operator').mkdir(path);
  const knowledge = createKnowledge(scheduler, disk, parts);
  const copies = keepCopies(disk, staleBy, knowledge.stateOf);
  const runs: string[] = [];
  const told: Told[] = [];
  const hanging = new Map<string, number>();
  let doneAtScan: number | undefined;
  let scans = 0;
  let isSetUp = true;

  const clientTimes = CLIENTS.map((name) => createClientTime(scheduler, name));
  const disks = scheduler.gate(disk, (asked) => {
    if (!asked.writes) return;
    copies.changed();
    const made = asked.on.at(-1) ?? '';
    if (made === HOME || (made.startsWith(`${HOME}/`) && isRequest(basename(made))))
      for (const { lookNow } of clientTimes) lookNow();
  });
  const located = (path: string, process: string) =>
    path.startsWith('/proc') || parts.includes('linker') ? disk.as(process).locate(path) : path;
  /** A path that begins with a handle is told by the place that the handle stands for. */
  const gate: Gate<Disk> = (asked, act) => {
    const refusal = isSetUp ? undefined : refusalOf(asked, options);
    const step = { ...asked, on: asked.on.map((path) => located(path, asked.process)) };
    return disks(step, (world) => knowledge.hearing(step, () => (refusal ? raise(refusal) : act(world))));
  };
  const clients = clientTimes
    .map((own) =>
      createClient({
        ...{ name: own.name, address: 'here', sdk: 'node', app: APP, lane: null, sharedDir: SHARED },
        registered: options.isRegistered ?? false,
        behaviour: { scansEveryMs: SCANS_EVERY_MS, runsMs: 0, ...options.client },
        gate: (asked, act) => {
          if (asked.name === 'readdir' && asked.process === 'client') scans++;
          return gate(asked, (all) => act(all.as(asked.process)));
        },
        time: own,
        onRun: (mockId) => void runs.push(mockId),
      }),
    )
    .filter((_, at) => parts.includes(CLIENTS[at] ?? 'client'));
  if (!options.isNewAddress) for (const client of clients) client.establish(disk.as('client'));

  const data: JobData = {
    ...{ v: JOB_VERSION, app: APP, ruleId: '1', confId: null, ts: null, keyName: null },
    ...{ target: options.target ?? 'address:here', input: '{"n":9007199254740993}' },
    claimBy: STARTS_AT + (options.apiAheadMs ?? 0) + QUEUE_TIMEOUT_MS,
    storeRun: options.forgotCount ? 'the run before' : store.runId(),
  };

  async function attempt(name: Worker, worker: WorkerParts, isFirst: boolean): Promise<void> {
    if (name === 'attempt 2' && options.secondAt !== undefined) await time.pause(options.secondAt);
    const afterAnswer = told.some(({ what }) => what === 'answered');
    const outcome = await tries(worker, isFirst);
    told.push({ ...toldBy(name, outcome), afterAnswer });
    if (outcome.kind === 'ended') await worker.cleanUp(outcome);
  }

  /** The queue hands a job out again that a worker could not deal with. */
  async function tries(worker: WorkerParts, isFirst: boolean): Promise<Outcome> {
    for (let number = 1; ; number++) {
      const firstAttempt = isFirst && number === 1;
      const execution: Execution = { mockId: MOCK_ID, data, takenAt: time.now(), firstAttempt, mayWait: false };
      const outcome = await worker.execute.run(execution).catch((): Outcome => ({ kind: 'give-back' }));
      if (outcome.kind === 'ended' || number === TRIES) return outcome;
      await time.pause(AGAIN_MS);
    }
  }

  async function sweep(name: Worker, worker: WorkerParts, times: readonly number[]): Promise<void> {
    for (const at of times) {
      await time.pause(at - scheduler.now);
      // As the tasks of `sweepTasks` do: a sweep that fails is told of, and the others go on.
      await createSweep({ ...worker, onResult: async () => false })().catch(() => {});
      await sweepAnswers(worker).catch(() => {});
    }
    told.push({ by: name, what: 'nothing' });
  }

  async function sweepAnswers({ keptAnswers, sharedDirectory }: WorkerParts): Promise<void> {
    await keptAnswers.sweep(await sharedDirectory.clock.touch());
  }

  async function fence(name: Worker, worker: WorkerParts, afterMs: number): Promise<void> {
    if (afterMs > 0) await time.pause(afterMs);
    const answer = await createFence(worker)({ mockId: MOCK_ID, claimBy: data.claimBy });
    const isFenced = answer.kind === 'found' && answer.body.includes('fenced');
    told.push({ by: name, what: isFenced ? 'did not run' : 'nothing' });
  }

  const acts: Record<Worker, (worker: WorkerParts) => Promise<void>> = {
    'attempt 1': (worker) => attempt('attempt 1', worker, true),
    'attempt 2': (worker) => attempt('attempt 2', worker, options.forgotCount ?? false),
    sweeper: (worker) => sweep('sweeper', worker, sweepsAt),
    'second sweeper': (worker) => sweep('second sweeper', worker, sweepsAt.slice(1)),
    fence: (worker) => fence('fence', worker, 0),
    'late fence': (worker) => fence('late fence', worker, options.lateFenceAt ?? QUEUE_TIMEOUT_MS + 10),
  };
  /** What others do to the client's directory: `rmdir` fails while something is in it. */
  const meddling: Record<'cleaner' | 'linker', () => Promise<void>> = {
    async cleaner() {
      for (let left = 2; left > 0; left--) await meddle('cleaner', 'rmdir', [HOME], (calls) => calls.rmdir(HOME));
    },
    async linker() {
      if (await meddle('linker', 'rmdir', [HOME], (calls) => calls.rmdir(HOME)))
        await meddle('linker', 'symlink', [HOME], (calls) => calls.symlink(ELSEWHERE, HOME));
    },
  };

  function meddle(process: string, name: string, on: string[], act: (calls: ReturnType<Disk['as']>) => void) {
    return gate({ process, port: 'client', name, on, writes: true }, (all) => act(all.as(process))).then(
      () => true,
      () => false,
    );
  }

  /** A process that is done goes: what it would do later is another world's matter. */
  function retire(process: string): void {
    scheduler.kill(process);
    disk.endProcess(process);
    knowledge.forget(process);
  }

  const open = parts.filter((part) => part !== 'client' && part !== 'twin');
  const starts: (() => void)[] = [];
  const files = (process: string) => createSimulatedFiles({ process, gate, onWatch });
  function onWatch({ process, name }: Noticed, deliver: () => void): void {
    const arrived = knowledge.onItsWay(process, name);
    scheduler.tell(process, `event ${name}`, () => {
      arrived();
      deliver();
    });
  }
  await scheduler.atOnce(async () => {
    for (const part of WORKERS.filter((name) => parts.includes(name))) {
      const process = startProcess(part, scheduler, files(part), options.aheadMs?.[part]);
      await process.run(async () => {
        const backend = createSimulatedBackend({ process: part, gate: scheduler.gate(store) });
        const worker = createWorkerParts(settings, backend);
        await worker.sharedDirectory.check();
        starts.push(() => void process.run(() => acts[part](worker).then(() => retire(part))));
      });
    }
  });
  for (const name of CLIENTS) scheduler.start(name, { aheadMs: options.aheadMs?.[name] ?? 0 });
  const startClients = () => {
    for (const client of clients) void client.start();
  };
  // They have looked before, and found nothing.
  if (options.isNewAddress) starts.push(startClients);
  else
    await scheduler.atOnce(async () => {
      startClients();
      await scheduler.settle();
    });
  for (const part of ['cleaner', 'linker'] as const) {
    if (!parts.includes(part)) continue;
    scheduler.start(part);
    starts.push(() => void meddling[part]().then(() => retire(part)));
  }
  knowledge.begins();
  isSetUp = false;
  for (const start of starts) start();

  const isClientCalm = () =>
    !parts.includes('client') || !scheduler.isAlive('client') || scans - (doneAtScan ?? scans) > CALM_SCANS;

  return {
    scheduler,
    broken: () => whatIsBroken({ runs, told, disk }),
    /** Who was told what, and how often the rule ran. */
    outcome: () => [...told.map(({ by, what }) => `${by}: ${what}`).sort(), `${runs.length} runs`].join(', '),
    isOver() {
      const isDone = (part: string) =>
        !scheduler.isAlive(part) || scheduler.now - (hanging.get(part) ?? Number.POSITIVE_INFINITY) > HANGS_MS;
      if (!open.every(isDone)) return false;
      doneAtScan ??= scans;
      return isClientCalm();
    },
    brokenAtTheEnd: () => whatIsMissing({ ...options, told, disk }),
    state: () =>
      digestOf(
        `${knowledge.state()} ${copies.state()} ${doneAtScan === undefined ? '' : scans - doneAtScan} ${clientTimes.map(({ state }) => state()).join(' ')} ${runs.length} ${JSON.stringify(told)} ${[...hanging].join(' ')}`,
      ),
    staleFor: (ready: Ready) => (ready.kind === 'step' && ready.asked.port === 'files' ? copies.older() : []),
    touched: knowledge.touched,
    made(made: Made): void {
      knowledge.heard(made);
      if (made.how === 'hangs') hanging.set(made.process, made.at);
      if (made.what === 'crashes') retire(made.process);
    },
    close: () => scheduler.close(),
  };
}

const digestOf = (text: string) => hash('sha1', text, 'base64');

/**
 * What the processes of a world were told: the answers of steps, the numbers of a `stat` that they read, at which time. What they do next
 * follows from that. Of the numbers of files only counts which of them are equal.
 */
function createKnowledge(scheduler: Scheduler, disk: Disk, parts: readonly Part[]) {
  const heardBy = new Map<string, number>();
  const numbers = new Map<string, Map<number, number>>();
  const coming = new Map<string, string[]>();
  let touches: Touched[] = [];
  let isSetUp = true;
  let known: string | undefined;
  /** The times of files count where somebody asks for them. */
  const times = parts.includes('sweeper');

  const hear = (process: string, what: string) => heardBy.set(process, hashOf(what, heardBy.get(process) ?? 0));

  /** At once, before what the process does with it; closing something tells nothing. */
  function hearAnswer({ process, on }: Asked, answer: string): void {
    if (!isSetUp && on.length > 0) hear(process, answer);
  }

  function noteTouches(asked: Asked, wanted: readonly Touch[]): void {
    if (!isSetUp) touches.push({ asked, touches: wanted });
  }

  /** Which of the files that the process has seen. */
  function numberOf(process: string, ino: number): number {
    const own = numbers.get(process) ?? new Map<number, number>();
    numbers.set(process, own);
    const number = own.get(ino) ?? own.size;
    own.set(ino, number);
    return number;
  }

  /** A stat that tells what of it is read. */
  function observed(asked: Asked, stats: FileStats): FileStats {
    const { process } = asked;
    const tell = (name: string, value: number, how: Touch['how'] = 'existence') => {
      hear(process, `${name} ${name === 'ino' ? numberOf(process, value) : value}`);
      noteTouches(
        asked,
        asked.on.map((path) => ({ path, how })),
      );
      return value;
    };
    return new ObservedStats(stats, tell);
  }

  function hearing<T>(asked: Asked, act: () => T): T {
    if (changesDisk(asked)) known = undefined;
    try {
      const result = act();
      hearAnswer(asked, textOf(asked, result));
      noteTouches(asked, touchesOf(asked, result));
      return isStats(result) ? (observed(asked, result) as T & FileStats) : result;
    } catch (error) {
      hearAnswer(asked, errnoOf(error));
      noteTouches(asked, whyFailed(asked));
      throw error;
    }
  }

  function stateOf(): string {
    known ??= digestOf(JSON.stringify(disk.state({ times })));
    return known;
  }

  return {
    hearing,
    stateOf,
    /** The set-up is over: from now on it counts what is told. */
    begins(): void {
      isSetUp = false;
      known = undefined;
    },
    heard({ at, process, what, how }: Made): void {
      hear(process, `${at} ${what} ${how}`);
      known = what === 'crashes' ? undefined : known;
    },
    /** An event is told to a process later; to be called when it is. */
    onItsWay(process: string, name: string): () => void {
      coming.set(process, [...(coming.get(process) ?? []), name]);
      return () => {
        const all = coming.get(process) ?? [];
        const at = all.indexOf(name);
        coming.set(process, all.toSpliced(at, 1));
      };
    },
    forget(process: string): void {
      for (const one of [heardBy, numbers, coming]) one.delete(process);
      known = undefined;
    },
    touched(): readonly Touched[] {
      const all = touches;
      touches = [];
      return all;
    },
    state(): string {
      const each = [...heardBy].filter(([process]) => scheduler.isAlive(process)).sort();
      const events = [...coming].filter(([process, all]) => all.length > 0 && scheduler.isAlive(process)).sort();
      return `${scheduler.now} ${stateOf()} ${each.join(' ')} ${events.join(' ')}`;
    },
  };
}

function kindOf(stats: FileStats): string {
  return stats.isFile() ? 'a file' : stats.isDirectory() ? 'a directory' : 'a link';
}

type Tell = (name: string, value: number, how?: Touch['how']) => number;

/** A stat that tells what of it is read. What kind of file it is everybody is told who asks. */
class ObservedStats implements FileStats {
  readonly #stats: FileStats;
  readonly #tell: Tell;

  constructor(stats: FileStats, tell: Tell) {
    this.#stats = stats;
    this.#tell = tell;
  }

  get dev() {
    return this.#stats.dev;
  }
  get ino() {
    return this.#tell('ino', this.#stats.ino);
  }
  get mode() {
    return this.#tell('mode', this.#stats.mode);
  }
  get nlink() {
    return this.#tell('nlink', this.#stats.nlink);
  }
  get uid() {
    return this.#tell('uid', this.#stats.uid);
  }
  get size() {
    return this.#tell('size', this.#stats.size, 'content');
  }
  get mtimeMs() {
    return this.#tell('mtimeMs', this.#stats.mtimeMs, 'content');
  }
  get ctimeMs() {
    return this.#tell('ctimeMs', this.#stats.ctimeMs, 'content');
  }
  isFile = () => this.#stats.isFile();
  isDirectory = () => this.#stats.isDirectory();
  isSymbolicLink = () => this.#stats.isSymbolicLink();
  isFIFO = () => this.#stats.isFIFO();
  /** For the trace. */
  toJSON = () => kindOf(this.#stats);
}

/** Looks that leave the disk, and what processes have open, as they are. */
const PURE = new Set([
  'lstat',
  'stat',
  'exists',
  'access',
  'realpath',
  'statfs',
  'fstat',
  'readlink',
  'readdir',
  'read',
  'readEntries',
  'watch',
  'fsync',
]);

function changesDisk({ name, port }: Asked): boolean {
  return port !== 'files' || !PURE.has(name);
}

/** What a failure depended on: whether a directory is empty, or only what stands there. */
function whyFailed({ name, on }: Asked): Touch[] {
  const how = DEPENDS_ON_CONTENT.has(name) ? 'content' : 'existence';
  return on.map((path) => ({ path, how }));
}

const DEPENDS_ON_CONTENT = new Set(['rmdir', 'rm', 'rename']);

function touchesOf(asked: Asked, result: unknown): readonly Touch[] {
  const how = asked.port === 'client' && asked.name === 'readdir' ? 'requests' : undefined;
  if (how) return asked.on.map((path) => ({ path, how }));
  return isStats(result) ? asked.on.map((path) => ({ path, how: 'existence' })) : possible(asked);
}

function textOf({ port, name }: Asked, result: unknown): string {
  if (isStats(result)) return kindOf(result);
  if (result === undefined || typeof result === 'function') return '';
  if (port === 'client' && name === 'readdir' && Array.isArray(result)) return result.filter(isRequest).join(' ');
  if (Buffer.isBuffer(result)) return result.toString('latin1');
  return JSON.stringify(result);
}

function isStats(value: unknown): value is FileStats {
  return typeof value === 'object' && value !== null && 'mtimeMs' in value && 'isFIFO' in value;
}

/** The code of the error that a step meets always. */
function refusalOf(
  { process, name, writes, port }: Asked,
  { cannotWrite, hasNoLinks }: ClaimScene,
): string | undefined {
  if (port !== 'files' || !writes) return undefined;
  if (hasNoLinks && name === 'symlink') return 'EPERM';
  return cannotWrite?.part === process && !TAKES_AWAY.has(name) ? cannotWrite.code : undefined;
}

const TAKES_AWAY = new Set(['unlink', 'rmdir', 'rm', 'rename']);

function raise(code: string): never {
  throw Object.assign(new Error(code), { code });
}

/** The time of a client whose long pauses end at once when something changes where it looks. */
function createClientTime(scheduler: Scheduler, name: string) {
  const own = scheduler.timeOf(name);
  let looking: { run: () => void; timer: Timer; isSoon: boolean } | undefined;
  let isLate = false;

  function plan(run: () => void, pauseMs: number): Timer {
    const ms = isLate ? 0 : pauseMs;
    isLate = false;
    const timer = own.setTimeout(() => {
      looking = undefined;
      run();
    }, ms);
    looking = { run, timer, isSoon: ms === 0 };
    return timer;
  }

  const all: Time & { name: string; lookNow(): void; state(): string } = {
    ...own,
    name,
    setTimeout: (run, ms) => (ms === SCANS_EVERY_MS ? plan(run, ms) : own.setTimeout(run, ms)),
    lookNow(): void {
      isLate = looking === undefined;
      if (!looking || looking.isSoon) return;
      own.clearTimeout(looking.timer);
      plan(looking.run, 0);
    },
    state: () => `${looking?.isSoon} ${isLate}`,
  };
  return all;
}

/** Copies of a disk as it was before each of its last changes, newest first. */
function keepCopies(disk: Disk, count: number, stateOf: () => string) {
  let now: { disk: Disk; state: string } | undefined;
  let older: { disk: Disk; state: string }[] = [];
  const take = () => ({ disk: disk.copy(), state: stateOf() });
  if (count > 0) now = take();
  return {
    changed(): void {
      if (now === undefined) return;
      older = [now, ...older].slice(0, count);
      now = take();
    },
    older(): Disk[] {
      for (const copy of older) copy.disk.takeHandlesOf(disk);
      return older.map((copy) => copy.disk);
    },
    state: () => older.map(({ state }) => state).join(' '),
  };
}

function toldBy(by: Part, outcome: Outcome): Told {
  if (outcome.kind !== 'ended') return { by, what: 'nothing' };
  const { ending } = outcome;
  if (ending.kind === 'answered') return { by, what: 'answered', body: ending.result.body ?? '' };
  return { by, what: ending.noAnswer.mayHaveRun ? 'may have run' : 'did not run' };
}

type Happened = { runs: readonly string[]; told: readonly Told[]; disk: Disk };

/**
 * A rule runs at most once; whoever was told that it did not run is not followed by a run; an answer is the client's; who comes after an
 * answer was told is told it, too, or nothing; nothing is written past a link.
 */
function whatIsBroken({ runs, told, disk }: Happened): string | undefined {
  if (runs.length > 1) return `the rule ran ${runs.length} times`;
  // A client may follow a link: it is told of none.
  const past = disk
    .as('observer')
    .readdir(ELSEWHERE)
    .filter((name) => !name.includes('_result.json'));
  if (past.length > 0) return 'a request was written past a link';
  if (told.length === 0) return undefined;
  const refused = told.find(({ what }) => what === 'did not run');
  if (refused && runs.length > 0) return `${refused.by} was told that it did not run, and it ran`;
  const wrong = told.find(({ what, body }) => what === 'answered' && body !== bodyOf(MOCK_ID, 'node'));
  if (wrong) return `${wrong.by} was told another answer than the client's: ${wrong.body}`;
  const answered = told.find(({ what }) => what === 'answered');
  return answered && runs.length === 0 ? `${answered.by} was told an answer, and nothing ran` : undefined;
}

type AtTheEnd = Pick<ClaimScene, 'mustAnswer' | 'leavesNothing'> & { told: readonly Told[]; disk: Disk };

/** Nobody waits in vain for a client that lives; what an execution leaves is removed. */
function whatIsMissing({ mustAnswer, leavesNothing, told, disk }: AtTheEnd): string | undefined {
  const ended = told.filter(({ by }) => by.startsWith('attempt'));
  if (mustAnswer) {
    const unanswered = ended.find(({ what, afterAnswer }) => what === 'may have run' && afterAnswer);
    if (unanswered) return `${unanswered.by} began after the answer was told, and was not told it`;
    if (!told.some(({ what }) => what === 'answered' || what === 'did not run'))
      return 'the client lives, and nobody was told its answer';
  }
  if (!leavesNothing) return undefined;
  const left = disk.state().find((line) => line.includes(MOCK_ID));
  return left && `something is left of the execution: ${left}`;
}
