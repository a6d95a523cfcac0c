import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { resultWithin } from '../../src/shared/runtime/async.ts';
import { errnoOf, unless } from '../../src/shared/runtime/errno.ts';
import { every } from '../../src/shared/runtime/upkeep.ts';
import { atTestEnd } from './at-test-end.ts';

const run = promisify(execFile);

type Content = string | Uint8Array;

/** One request as a client finds it, and what a client can do with it. */
export type FoundRequest = {
  mockId: string;
  /** The request file, to the byte. */
  text: string;
  directory: string;
  requestPath: string;
  resultPath: string;
  /** Deletes the request, as clients do before they run it. */
  pickUp(): Promise<void>;
  /** Puts a result in place that is complete when it appears. */
  answer(content: Content, mode?: number): Promise<void>;
};

export type Behaviour = (request: FoundRequest, responder: Responder) => Promise<unknown> | unknown;

type Options = {
  sharedDir: string;
  app: number;
  does: Behaviour;
  address?: string;
  lane?: string;
  /** `rule`: registered, our own dialect. `python`, `go`, `java`: registered as those SDKs do. `directory`: a mkdir and nothing else. */
  as?: 'rule' | 'python' | 'go' | 'java' | 'directory';
  /** Its registration says that it can run without effects. */
  dryRun?: boolean;
  beatEveryMs?: number;
  lookEveryMs?: number;
  /** How wrong its clock is. */
  clockAheadMs?: number;
  /** Where it finds its own directory and the folder of its registration, if it is on another machine than the worker. */
  behind?: { directory?: string; register?: string };
};

export type Responder = {
  address: string;
  directory: string;
  registrationPath: string;
  heartbeatPath: string;
  /** Every request that ever appeared, in order; one that is put there twice stands here twice. */
  found: FoundRequest[];
  does: Behaviour;
  /** Resolves to the first request; rejects when none comes. */
  firstRequest(): Promise<FoundRequest>;
  beat(): Promise<void>;
  /** Its beats tell this version of the rules from now on. */
  hasLoaded(version: number): Promise<void>;
  stopBeating(): Promise<void>;
  unregister(): Promise<void>;
  removeDirectory(): Promise<void>;
  /** Stops playing; files stay as they are. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Plays a client of the file channel on real files. What it does with a request is up to the test. */
export async function createResponder(options: Options): Promise<Responder> {
  const {
    sharedDir,
    app,
    lane,
    dryRun = false,
    as = 'rule',
    beatEveryMs = 500,
    lookEveryMs = 5,
    clockAheadMs = 0,
  } = options;
  const address = options.address ?? `client_${randomBytes(3).toString('hex')}`;
  const fileName = as === 'python' || as === 'go' || as === 'java' ? address.replace(/[:/]/g, '_') : address;
  const register = options.behind?.register ?? join(sharedDir, 'clients', String(app));
  const home = join(register, ...(lane === undefined ? [] : ['lane', lane]));
  const directory = options.behind?.directory ?? join(sharedDir, 'mock', String(app), fileName);
  const registrationPath = join(home, `m_${fileName}.json`);
  const heartbeatPath = join(home, `b_${fileName}.json`);
  const isRegistered = as !== 'directory';
  const present = new Map<string, number>();
  const running = new Set<Promise<unknown>>();

  const clock = () => Date.now() + clockAheadMs;
  let loadedVersion = 1;
  const beat = () => put(heartbeatPath, JSON.stringify({ lastHeartbeat: clock(), loadedVersion }));

  async function look(): Promise<void> {
    const names = (await readdir(directory).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
    const requests = names.filter((name) => name.endsWith('.json') && !name.endsWith('_result.json'));
    for (const gone of [...present.keys()].filter((name) => !requests.includes(name))) present.delete(gone);
    for (const name of requests) await notice(name);
  }

  async function notice(name: string): Promise<void> {
    const path = join(directory, name);
    const stats = await stat(path).catch(unless('ENOENT', 'ENOTDIR'));
    if (!stats || present.get(name) === stats.ino) return;
    const text = await readFile(path, 'utf8').catch(unless('ENOENT', 'ENOTDIR'));
    if (text === undefined) return;
    present.set(name, stats.ino);
    const request = requestAt(directory, name.replace(/\.json$/, ''), text);
    responder.found.push(request);
    const work = Promise.resolve(responder.does(request, responder)).finally(() => running.delete(work));
    running.add(work);
  }

  await mkdir(directory, { recursive: true });
  if (isRegistered) {
    await mkdir(home, { recursive: true });
    await put(registrationPath, registrations[as]({ address, app, lane, dryRun, clock: clock() }));
    await beat();
  }
  const looks = every(lookEveryMs, look, throwLater);
  // A shared directory that is away or full for a moment takes the next beat.
  const onMissedBeat = (error: unknown) => ['ENOENT', 'ENOSPC'].includes(errnoOf(error) ?? '') || throwLater(error);
  const beats = isRegistered ? every(beatEveryMs, beat, onMissedBeat) : undefined;
  atTestEnd(() => void Promise.all([looks.stop(), beats?.stop()]));

  const responder: Responder = {
    address,
    directory,
    registrationPath,
    heartbeatPath,
    found: [],
    does: options.does,
    firstRequest: () =>
      vi.waitFor(
        () => {
          const [first] = responder.found;
          if (!first) throw new Error(`no request came to ${address}`);
          return first;
        },
        { timeout: 60_000, interval: 5 },
      ),
    beat,
    hasLoaded(version) {
      loadedVersion = version;
      return beat();
    },
    stopBeating: async () => beats?.stop(),
    async unregister() {
      await beats?.stop();
      await rm(registrationPath, { force: true });
      await rm(heartbeatPath, { force: true });
    },
    // A worker may put something into it meanwhile.
    removeDirectory: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
    async stop() {
      await Promise.all([looks.stop(), beats?.stop()]);
      // A behaviour that a failed test never let go on must not hide the failure behind the time-out of the test.
      await resultWithin(60_000, { of: Promise.all(running), late: () => [] });
    },
    [Symbol.asyncDispose]: () => responder.stop(),
  };
  return responder;
}

function requestAt(directory: string, mockId: string, text: string): FoundRequest {
  const requestPath = join(directory, `${mockId}.json`);
  const resultPath = join(directory, `${mockId}_result.json`);
  return {
    mockId,
    text,
    directory,
    requestPath,
    resultPath,
    pickUp: () => unlink(requestPath),
    answer: (content, mode) => put(resultPath, content, mode),
  };
}

/** A good result; `members` replace or add members, undefined ones leave them out. */
export function resultText({ mockId }: { mockId: string }, members: Record<string, unknown> = {}): string {
  return JSON.stringify({
    mockId,
    success: true,
    'the service': {},
    process: '[1:Demo:T:0]',
    error: null,
    executeAt: 1_700_000_000_000,
    ...members,
  });
}

/** What clients do, good and bad. Those that answer pick the request up first, unless they say otherwise. */
export const answers =
  (members: Record<string, unknown> = {}): Behaviour =>
  async (request) => {
    await request.pickUp();
    await request.answer(resultText(request, members));
  };

/** Answers with exactly these bytes. */
export const answersWith =
  (content: Content | ((request: FoundRequest) => Content)): Behaviour =>
  async (request) => {
    await request.pickUp();
    await request.answer(typeof content === 'function' ? content(request) : content);
  };

export const errs = (error: string): Behaviour => answers({ success: false, process: undefined, error });

export const staysSilent: Behaviour = () => {};

export const picksUpAndStaysSilent: Behaviour = (request) => request.pickUp();

export const answersWithoutPickingUp: Behaviour = (request) => request.answer(resultText(request));

/** Writes straight into the result file, as a shell script does: first nothing, later everything. */
export const createsFirstAndFillsAfter =
  (ms: number): Behaviour =>
  async (request) => {
    await request.pickUp();
    await writeFile(request.resultPath, '');
    await delay(ms);
    await writeFile(request.resultPath, resultText(request));
  };

export const answersAfter =
  (ms: number): Behaviour =>
  async (request) => {
    // A request that is gone was taken back: it is not run.
    const isGone = await request.pickUp().then(
      () => false,
      (error) => errnoOf(error) === 'ENOENT' || Promise.reject(error),
    );
    if (isGone) return;
    await delay(ms);
    await request.answer(resultText(request));
  };

export const answersWithLinkTo =
  (target: string): Behaviour =>
  async (request) => {
    await request.pickUp();
    await symlink(target, request.resultPath);
  };

export const answersWithPipe: Behaviour = async (request) => {
  await request.pickUp();
  await run('mkfifo', [request.resultPath]);
};

export const answersWithDirectory: Behaviour = async (request) => {
  await request.pickUp();
  await mkdir(request.resultPath);
  await writeFile(join(request.resultPath, 'inside'), 'x');
};

export const unregistersAfterPickUp: Behaviour = async (request, responder) => {
  await request.pickUp();
  await responder.unregister();
};

export const removesItsDirectoryAfterPickUp: Behaviour = async (request, responder) => {
  await request.pickUp();
  await responder.removeDirectory();
};

type Who = { address: string; app: number; lane: string | undefined; dryRun: boolean; clock: number };

const registrations = {
  rule: ({ address, app, lane, dryRun, clock }: Who) =>
    JSON.stringify({
      address,
      app,
      lane: lane ?? null,
      dialect: 'rule',
      sdk: 'node',
      ...(dryRun && { dryRun }),
      startTime: clock,
      loadedVersion: 1,
    }),
  python: ({ address, app, lane, clock }: Who) =>
    `{"address": ${JSON.stringify(address)}, "app": ${app}, "lane": ${JSON.stringify(lane ?? null)}, "leafNodes": [], "lastHeartbeat": ${clock}, "startTime": ${clock}, "loadedVersion": 1}`,
  go: ({ address, app, lane, clock }: Who) =>
    JSON.stringify({
      address,
      app,
      lane,
      leafNodes: [{ type: 7, clazz: 'com.sample.Echo', roamKeys: [] }],
      lastHeartbeat: clock,
      startTime: clock,
      loadedVersion: 1,
    }),
  java: ({ address, app, lane, clock }: Who) =>
    JSON.stringify({
      address,
      app,
      lane,
      leafNodes: [{ type: 7, clazz: 'com.sample.Echo', name: 'Echo', desc: '', order: 100 }],
      lastHeartbeat: clock,
      startTime: clock,
      loadedVersion: 1,
    }),
};

/** Writes a file that is complete when it appears. */
export async function put(path: string, content: Content, mode = 0o644): Promise<void> {
  await writeFile(`${path}.tmp`, content);
  if (mode !== 0o644) await chmod(`${path}.tmp`, mode);
  await rename(`${path}.tmp`, path);
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
