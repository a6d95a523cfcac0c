import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { constants, type FSWatcher, statSync, watch } from 'node:fs';
import { link, open, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay, setImmediate as soon } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type RequestContent, readAnswer, requestMembers } from '../../shared/contract/client-files.ts';
import { joinMembers, parseExact, toAscii } from '../../shared/contract/json/exact-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { causeOf } from '../../shared/reasons/causes.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';

const CHECK_EVERY_MS = 5;
const CHECKS_AT_ONCE = 1000;

/** What a request asks a client to run. `data`: a JSON object as text. */
type Asked = { data: string; dryRun?: boolean };
/** A request in the folder, with its input. `isEarly`: the client took the file while it still had its hidden name. */
export type Sent = { mockId: string; path: string; data: string; isEarly?: boolean };
export type Reply =
  | { kind: 'answered'; ms: number; members: ExactValue; leftRequest: boolean }
  | { kind: 'silent'; taken: boolean }
  | { kind: 'early' }
  | { kind: 'wrong'; fault: string };

export type ClientFolder = ReturnType<typeof openClientFolder>;
type Options = { app: number; ruleId: string | null; confId: string | null; withinMs: number };

/** Plays the worker in a client's directory: writes requests, and waits for results. */
export function openClientFolder(directory: string, options: Options) {
  const at = (name: string) => join(directory, name);
  const resultOf = (mockId: string) => `${mockId}_result.json`;
  const seen = watchNames(directory);
  const { ours, ...requests } = createRequests(at, options);
  /** Executions whose result was visible before it was complete; those with a result. */
  const [cut, answered] = [new Set<string>(), new Set<string>()];
  const isOurs = (name: string) => [...ours].some((mockId) => name.includes(mockId));

  async function clean(): Promise<void> {
    const names = (await readdir(directory).catch(unless('ENOENT'))) ?? [];
    await Promise.all(names.filter(isOurs).map((name) => rm(at(name), { force: true })));
  }

  return {
    ...{ ...requests, directory, at, clean },
    /** Waits for the result and removes it with the request, as a worker does. */
    async replyTo(sent: Sent): Promise<Reply> {
      const reply = await replyTo(sent, {
        resultPath: at(resultOf(sent.mockId)),
        withinMs: options.withinMs,
        onCut: () => cut.add(sent.mockId),
      });
      if (reply.kind === 'answered') answered.add(sent.mockId);
      return reply;
    },
    hasResult: ({ mockId }: Sent) => isThere(at(resultOf(mockId))),
    /** How many requests were answered twice. */
    answeredTwice: () => [...answered].filter((mockId) => isThere(at(resultOf(mockId)))).length,
    /** Results that were visible before they were complete, or changed afterwards. */
    unfinished: () => [...ours].filter((id) => cut.has(id) || (answered.has(id) && seen.changed.has(resultOf(id)))),
    /** Foreign names ending in `.json`, which a worker may mistake for requests or results. */
    strange: () => [...seen.names].filter((name) => name.endsWith('.json') && !isOurs(name)),
    async close(): Promise<void> {
      seen.watcher?.close();
      await clean();
    },
  };
}

/** `ours`: the executions that files in the folder belong to. */
function createRequests(at: (name: string) => string, { app, ruleId, confId }: Options) {
  const ours = new Set<string>();

  /** The id of files that are no request and no result, though they may have such names. */
  function decoy(): string {
    const mockId = randomUUID();
    ours.add(mockId);
    return mockId;
  }

  /** Writes a request under a hidden name. */
  async function prepare({ data, dryRun = false }: Asked): Promise<Sent & { text: string; temporary: string }> {
    const mockId = decoy();
    const content: RequestContent = { mockId, app, ruleId, confId, ts: null, target: 'all', input: data };
    const asked = dryRun ? { ...content, dryRun: { stub: '{}' } } : content;
    const text = toAscii(joinMembers(requestMembers(asked, Date.now())));
    const temporary = at(`.${mockId}.${randomBytes(4).toString('hex')}.tmp`);
    await writeFile(temporary, text);
    return { mockId, path: at(`${mockId}.json`), data, text, temporary };
  }

  async function send(asked: Asked): Promise<Sent> {
    const { temporary, ...sent } = await prepare(asked);
    return { ...sent, isEarly: !(await renamed(temporary, sent.path)) };
  }

  return { ours, decoy, prepare, send };
}

type Waiting = { resultPath: string; withinMs: number; onCut: () => void };

async function replyTo({ mockId, path, isEarly }: Sent, { resultPath, withinMs, onCut }: Waiting): Promise<Reply> {
  if (isEarly) return { kind: 'early' };
  const startedAt = performance.now();
  for (let fault = ''; ; await delay(CHECK_EVERY_MS)) {
    const bytes = await readFile(resultPath).catch(unless('ENOENT'));
    const read = bytes && readAnswer(bytes, { mockId });
    if (read?.kind === 'incomplete') {
      onCut();
      fault = causeOf(read.fault);
    } else if (read) {
      const leftRequest = isThere(path);
      await Promise.all([path, resultPath].map((file) => rm(file, { force: true })));
      if (read.kind === 'wrong') return { kind: 'wrong', fault: causeOf(read.fault) };
      return { kind: 'answered', members: parseExact(read.text), ms: performance.now() - startedAt, leftRequest };
    }
    if (performance.now() - startedAt < withinMs) continue;
    return fault === '' ? { kind: 'silent', taken: !isThere(path) } : { kind: 'wrong', fault };
  }
}

const withdraw = ({ at }: Pick<ClientFolder, 'at'>, { mockId, path }: Sent) =>
  renamed(path, at(`.${mockId}.withdrawn.tmp`));

type TakenBack = { sent: Sent; isBack: boolean; wasRead: boolean };

/** Withdraws a request once the client has begun to read it, after `ms` at the latest. `isBack`: it was withdrawn in time. */
export async function takeBack(folder: ClientFolder, asked: Asked, ms: number): Promise<TakenBack> {
  const { temporary, ...sent } = await folder.prepare(asked);
  await utimes(temporary, 0, new Date()).catch(unless('ENOENT')); // nobody has read it yet: the next reading shows
  const isEarly = !(await renamed(temporary, sent.path));
  const wasRead = await isBeingRead(sent.path, ms);
  return { sent: { ...sent, isEarly }, isBack: await withdraw(folder, sent), wasRead };
}

/**
 * Withdraws a request while the client is certainly reading it: the request is a pipe that gets its content after the withdrawal. `wasRead`
 * is false if no client opens it within `ms`, because some skip what is not a regular file.
 */
export async function takeBackFromReader(folder: ClientFolder, asked: Asked, ms: number): Promise<TakenBack> {
  const { temporary, text, ...sent } = await folder.prepare(asked);
  const held = folder.at(`.${sent.mockId}.held.tmp`); // a client may rename what it takes, and open it then
  await rm(temporary);
  await promisify(execFile)('mkfifo', ['-m', '666', temporary]);
  await link(temporary, held);
  await rename(temporary, sent.path);
  const until = performance.now() + ms;
  let pipe = await openForReader(held);
  while (!pipe && performance.now() < until) {
    await delay(CHECK_EVERY_MS);
    pipe = await openForReader(held);
  }
  const isBack = await withdraw(folder, sent);
  const wasRead = pipe !== undefined;
  pipe ??= await openForReader(held); // who came just now must not wait for ever
  await pipe?.writeFile(text);
  await pipe?.close();
  return { sent, isBack, wasRead };
}

/** A pipe to write to; undefined while nobody reads it. */
const openForReader = (path: string) => open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(unless('ENXIO'));

/** False when the file is gone. */
const renamed = async (from: string, to: string): Promise<boolean> =>
  (await rename(from, to).then(() => true, unless('ENOENT'))) ?? false;

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Detects a reader by the access time. Mounts with noatime never show one. */
async function isBeingRead(path: string, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    // Polls without a pause, because a client deletes less than a millisecond after it reads.
    for (let read = 0; read < CHECKS_AT_ONCE; read++) {
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found || found.atimeMs > 0) return found !== undefined;
    }
    await soon();
  }
  return false;
}

/** Every name that appears, and those whose files change afterwards; none where events do not arrive. */
function watchNames(directory: string): { names: Set<string>; changed: Set<string>; watcher: FSWatcher | undefined } {
  const [names, changed] = [new Set<string>(), new Set<string>()];
  try {
    const watcher = watch(directory, (event, name) => {
      if (name === null) return;
      names.add(name);
      if (event === 'change' && process.platform === 'linux') changed.add(name);
    });
    watcher.on('error', () => {});
    return { names, changed, watcher };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw error;
    return { names, changed, watcher: undefined };
  }
}

/** The client of a directory `mock/{app}/{address}`. */
export function clientOf(directory: string): { app: number; address: string; sharedDir: string } | undefined {
  const [home, address] = [dirname(directory), basename(directory)];
  const app = Number(basename(home));
  if (!Number.isInteger(app) || app < 1 || basename(dirname(home)) !== 'mock') return undefined;
  return { app, address, sharedDir: dirname(dirname(home)) };
}
