import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { type ExactObject, isExactObject } from '../../shared/contract/json/raw-number.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { textFaultOf } from '../../shared/reasons/text-faults.ts';
import { idMember, integerMember, textMember } from '../../shared/rules/members.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { ExecutionRequest } from '../engine/run.ts';
import { readStubs } from './read-stubs.ts';

/** The result of taking a file that may be a request. `left`: it is not ours to run (any more), or not complete yet. */
export type Taken =
  | { kind: 'request'; mockId: string; request: ExecutionRequest; names: Names }
  | { kind: 'unusable'; mockId: string; reason: string }
  | { kind: 'left' };

/** The names of a request and of its answer: the interface's, or those of the published server's Mock (`iceId`, `roam`). */
type Names = 'interface' | 'published';

const left: Taken = { kind: 'left' };
/** A file that is no JSON may be half written. It counts as broken once it has not changed for this long. */
const UNFINISHED_FOR_MS = 2000;
/** The member of the published server's Mock that has the data. */
export const PUBLISHED_DATA_FIELD = 'roam';
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/**
 * Takes a request: reads it, then deletes it. What cannot be deleted was withdrawn, or is somebody else's by now, and is
 * left. `flush`: resolves once the deletion outlives a loss of power: a client that comes back at the same address does not find the
 * request again. Throws when the file system fails in a way that somebody has to see to.
 */
export async function takeRequest(directory: string, name: string, { flush = false } = {}): Promise<Taken> {
  const path = join(directory, name);
  const file = await readRegularFile(path);
  if (file === undefined) return left;
  const read = readRequest(file.bytes, basename(name, '.json'));
  if (read.kind === 'unusable' && Date.now() - file.modifiedMs < UNFINISHED_FOR_MS && !isJson(file.bytes)) return left;
  try {
    await unlink(path);
    if (flush) await flushFolder(directory);
    return read;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return left;
    throw new Error(`the request ${name} cannot be deleted, so it is not run`, { cause: error });
  }
}

/** Flushes a folder. Where that fails the request is run all the same: it was deleted, so nobody else has it. */
async function flushFolder(directory: string): Promise<void> {
  const folder = await open(directory, constants.O_RDONLY).catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

async function readRegularFile(path: string): Promise<{ bytes: Buffer; modifiedMs: number } | undefined> {
  // Neither a link nor a pipe: opening one must not lead elsewhere or wait for somebody to write.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(unless('ENOENT', 'ELOOP', 'ENXIO'));
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_REQUEST_BYTES) return undefined;
    return { bytes: await handle.readFile(), modifiedMs: stats.mtimeMs };
  } finally {
    await handle.close();
  }
}

function readRequest(bytes: Buffer, mockId: string): Taken {
  try {
    const decoded = decodeWhole(bytes);
    if (decoded.kind !== 'text') throw new TypeError(textFaultOf(decoded.fault));
    const request = parseExact(decoded.text);
    if (!isExactObject(request)) throw new TypeError('is not a JSON object');
    const names = namesOf(request);
    const dataField = names === 'published' ? PUBLISHED_DATA_FIELD : DATA_FIELD;
    const data = request[dataField] ?? {};
    if (!isExactObject(data)) throw new TypeError(`"${dataField}" must be an object`);
    // The answer goes by the file's name; a request that names another execution is a mistake somewhere.
    if (request.mockId != null && request.mockId !== mockId)
      throw new TypeError('mockId differs from the name of the file');
    const asked = names === 'published' ? publishedSelection(request) : selectionOf(request);
    const given = integerMember(request, 'ts') || null;
    const ts = names === 'published' && given !== null && given < 0n ? null : given;
    const { traceparent } = request;
    const trace = typeof traceparent === 'string' ? { traceparent } : {};
    return { kind: 'request', mockId, names, request: { ...asked, ts, data, ...trace } };
  } catch (error) {
    return { kind: 'unusable', mockId, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The rule server always writes the data and the target: a request with nothing of the interface is the published server's. */
function namesOf(request: ExactObject): Names {
  const isInterface = [DATA_FIELD, 'ruleId', 'dryRun', 'target'].some((name) => name in request);
  return isInterface ? 'interface' : 'published';
}

/** A rule counts before a scene, and a scene before a node. As for the published clients, an id below 1 is none. */
function publishedSelection(request: ExactObject): Selected {
  const idOf = (name: string) => {
    const id = integerMember(request, name);
    return id !== null && id > 0n ? id : null;
  };
  const ruleId = idOf('iceId');
  const scene = textMember(request, 'scene') || undefined;
  return { ruleId, confId: ruleId === null && scene ? null : idOf('confId'), scene };
}

type Selected = Pick<ExecutionRequest, 'ruleId' | 'confId' | 'scene' | 'stubs'>;

/** Reads what is to run. A dry run has it inside of `dryRun`, where a client that knows of no dry run does not look. */
function selectionOf(request: ExactObject): Selected {
  const ids = (from: ExactObject) => ({ ruleId: idMember(from, 'ruleId'), confId: idMember(from, 'confId') });
  const scene = textMember(request, 'ofScene') || undefined;
  const { dryRun } = request;
  if (dryRun === undefined) return { ...ids(request), scene };
  if (!isExactObject(dryRun)) throw new TypeError('dryRun must be an object');
  return { ...ids(dryRun), scene, stubs: readStubs(dryRun.stub ?? {}) };
}

function isJson(bytes: Buffer): boolean {
  return scanJson(bytes.toString('utf8')).kind === 'complete';
}
