import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { queueNames } from '../../src/shared/contract/queue-names.ts';
import { openStore } from '../../src/shared/store/embedded/file/embedded-store.ts';
import { callsAt } from './calls-at.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { httpCall } from './http-call.ts';
import { ADDRESS, APP, SETTINGS, type Told, uidOf } from './power-run.ts';
import type { RebuiltDisk } from './rebuilt-disk.ts';
import { answersAfter, createResponder } from './responder.ts';
import { type ServiceProcess, startWholeProcess } from './start-process.ts';

const STORE = '.rule-server/store';
const MAILBOX = `mock/${APP}/${ADDRESS}`;

const keptSchema = z.object({ record: z.object({ state: z.string() }) });
const recordSchema = z.object({ text: z.string() });
const keyedSchema = z.object({ mockId: z.string() });
const jobsSchema = z.array(z.object({ id: z.string(), ended: z.int() }));

/** What a store that was opened after a loss of power lacks of what was told, in sentences. */
export async function lacksOfStore(disk: RebuiltDisk, directory: string, told: Told): Promise<string[]> {
  await mkdir(join(directory, '.rule-server'), { recursive: true });
  await disk.writeTo(join(directory, STORE), STORE);
  const said: string[] = [];
  const tell = (sentence: string) => void (/damaged|moved/.test(sentence) && said.push(sentence));
  const store = await openStore({ folder: join(directory, STORE), flush: false, tell });
  try {
    return [...said, ...lacksOf(await contentOf(store), told)];
  } finally {
    await store.close();
  }
}

type Content = {
  /** Executions that are to run. */
  waiting: Set<string>;
  /** Those that ended; the history takes them over a moment later. */
  ended: Set<string>;
  /** The states of those in the history. */
  states: Map<string, string>;
  /** Those that stand under a key. */
  keyed: Set<string>;
};

async function contentOf({ database, openTable }: Awaited<ReturnType<typeof openStore>>): Promise<Content> {
  const all = 'SELECT id, ended_at IS NOT NULL AS ended FROM job WHERE queue = ?';
  const jobs = jobsSchema.parse(await database.read(() => database.statement(all).all(queueNames.executions)));
  const idsOf = (isEnded: number) => new Set(jobs.filter(({ ended }) => ended === isEnded).map(({ id }) => id));
  const history = openTable('history').load();
  const records = openTable('idempotency_records').load();
  return {
    ...{ waiting: idsOf(0), ended: idsOf(1) },
    states: new Map(history.map(({ key, info }) => [key, keptSchema.parse(JSON.parse(info)).record.state])),
    keyed: new Set(
      records.map(({ info }) => keyedSchema.parse(JSON.parse(recordSchema.parse(JSON.parse(info)).text)).mockId),
    ),
  };
}

function lacksOf({ waiting, ended, states, keyed }: Content, told: Told): string[] {
  const hasEnded = (mockId: string) => ended.has(mockId) || states.has(mockId);
  const lacks: string[] = [];
  for (const [mockId, { isAnswered }] of told.accepted) {
    if (!waiting.has(mockId) && !hasEnded(mockId)) lacks.push(`${mockId} was accepted, and is not known`);
    else if (isAnswered && !ended.has(mockId) && states.get(mockId) !== 'succeeded')
      lacks.push(`${mockId} had succeeded, and is ${states.get(mockId) ?? 'waiting'}`);
  }
  for (const mockId of told.taken.values())
    if (waiting.has(mockId)) lacks.push(`${mockId} was taken, and would run again`);
    else if (!hasEnded(mockId)) lacks.push(`${mockId} was taken, and is not known`);
  for (const mockId of told.keys.values())
    if (mockId !== null && !keyed.has(mockId)) lacks.push(`the key of ${mockId} is not known`);
  return lacks;
}

/** What a service that was started after a loss of power does against what was told, in sentences. */
export async function breaksOfService(disk: RebuiltDisk, directory: string, told: Told): Promise<string[]> {
  await disk.writeTo(directory);
  await mkdir(join(directory, 'mock'), { recursive: true });
  // A disk may have forgotten that the client deleted a request. Then the client would take it again by itself: the service has no part in it.
  const again = disk.names(MAILBOX).filter((name) => [...told.taken.values()].includes(name.replace(/\.json$/, '')));
  for (const name of again) await rm(join(directory, MAILBOX, name));
  const port = await freePort();
  await using responder = await createResponder({
    ...{ sharedDir: directory, app: APP, address: ADDRESS, does: answersAfter(5) },
  });
  await using service = await startWholeProcess({ sharedDir: directory, port, settings: SETTINGS });
  const calls = callsAt(() => port, APP);
  await calls.listens();
  const breaks = [...saidOf(service), ...(await lostExecutions(calls, told)), ...(await changedKeys(calls, told))];
  // A request whose bytes the disk lost lies there as well, and nobody can run it.
  const runs = responder.found.map(uidOf).filter((uid) => !Number.isNaN(uid));
  for (const [index, uid] of runs.entries()) {
    if (told.taken.has(uid)) breaks.push(`${uid} was taken before the loss of power, and again`);
    if (runs.indexOf(uid) !== index) breaks.push(`${uid} ran twice`);
  }
  return breaks;
}

function saidOf({ log, noise }: ServiceProcess): string[] {
  const usual = /^$|^The rule server runs|^ {2}|^Run a rule/;
  return [
    ...log.flatMap(({ msg }) => (/damaged|moved/.test(msg) ? [msg] : [])),
    ...noise.filter((line) => !usual.test(line)),
  ];
}

type Calls = ReturnType<typeof callsAt>;

/** Each call that was accepted is known, and ends; each that had succeeded, did. */
function lostExecutions({ url }: Calls, { accepted }: Told): Promise<string[]> {
  return inParts([...accepted], async ([mockId, { isAnswered }]) => {
    const ended = async () => {
      const { status, json } = await httpCall(url(`executions/${mockId}`));
      expect({ mockId, status, ended: json?.ending !== null }).toEqual({ mockId, status: 200, ended: true });
      return json;
    };
    try {
      const { state } = await eventually(ended, 30_000);
      return isAnswered && state !== 'succeeded' ? [`${mockId} had succeeded, and is ${state}`] : [];
    } catch (error) {
      return [String(error)];
    }
  });
}

/** A repeat of each call under a key. One that was never answered may run now for the first time. */
function changedKeys({ run }: Calls, { keys }: Told): Promise<string[]> {
  return inParts([...keys], async ([uid, mockId]) => {
    const { json } = await run(uid, { 'idempotency-key': `key-${uid}` });
    return mockId === null || json.mockId === mockId ? [] : [`key ${uid} was ${mockId}, and is ${json.mockId}`];
  });
}

async function inParts<T>(list: readonly T[], look: (each: T) => Promise<string[]>): Promise<string[]> {
  const found: string[] = [];
  for (let first = 0; first < list.length; first += 20)
    found.push(...(await Promise.all(list.slice(first, first + 20).map(look))).flat());
  return found;
}
