import { membersGiven, readAnswer } from '../../../shared/contract/client-files.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { outcomeOf } from '../../../shared/contract/endings/outcome-of-rule.ts';
import type { Outcome } from '../../../shared/contract/job.ts';
import { joinMembers, parseExact } from '../../../shared/contract/json/exact-json.ts';
import type { Member } from '../../../shared/contract/json/json-tokens.ts';
import { decodeUtf8 } from '../../../shared/contract/json/utf8.ts';
import { type ReportedRules, reportedRulesSchema } from '../../../shared/contract/rules-of-run.ts';
import { time } from '../../../shared/ports/time.ts';
import { type Fault, fault } from '../../../shared/reasons/causes.ts';
import { errnoOf } from '../../../shared/runtime/errno.ts';
import { INLINE_BYTES } from '../../../shared/store/key-value-store.ts';
import { directoryAt } from '../client-directory.ts';
import type { Dialect } from '../dialects/dialects.ts';
import { readUpTo } from '../file-system.ts';
import type { FileStats, OpenFile } from '../ports/operations.ts';

/**
 * The file where a result is expected. `stamp` tells whether it changed since another look, `writtenAt` when it last did.
 * `skipped`: it is there and was not worth reading. `unreadable`: this worker could not read it, which says nothing about
 * what the client wrote.
 */
export type FoundResult =
  | { kind: 'absent' }
  | { kind: 'skipped' }
  | { kind: 'unreadable'; code: string }
  | { kind: 'present'; judgement: Judgement; stamp: string; writtenAt: number; lease: Lease };

type Expected = { mockId: string; dialect: Dialect; maxBytes: number; memory: MemoryBudget };
/** `isWorthIt`: whether a file that looks like this is worth reading. `signal` ends the wait for memory. */
type Options = { isWorthIt: (sight: Sight) => boolean; signal?: AbortSignal | undefined };

/** A file by its directory and its name there. */
type ResultPlace = { directory: string; name: string };

/** Reads a result once there is memory for it. The caller releases the lease of one that is `present`. */
export async function readResult(
  { directory, name }: ResultPlace,
  expected: Expected,
  { isWorthIt, signal }: Options,
): Promise<FoundResult> {
  let lease = nothing;
  try {
    return await directoryAt(directory).read(name, async (file): Promise<FoundResult> => {
      const stats = await file.stat();
      const sight = toSight(stats);
      if (!isWorthIt(sight)) return { kind: 'skipped' };
      lease = await expected.memory.acquire(Math.min(sight.bytes, expected.maxBytes), signal);
      const judgement = await judgeFile(file, stats, expected);
      return { kind: 'present', judgement, writtenAt: stats.mtimeMs, stamp: sight.stamp, lease };
    });
  } catch (error) {
    lease.release();
    signal?.throwIfAborted();
    return failedReading(error, () => directoryAt(directory).stat(name), isWorthIt);
  }
}

/** Reads no more of a result file than is allowed. */
async function judgeFile(
  file: OpenFile,
  stats: FileStats,
  { mockId, dialect, maxBytes }: Expected,
): Promise<Judgement> {
  const refused = refuse(stats, maxBytes);
  if (refused) return { kind: 'wrong', fault: refused };
  return judgeResult(await readUpTo(file, Math.min(stats.size, maxBytes)), mockId, dialect);
}

/** Only what the client itself put there is its fault: a link in the place of a file, or something that is no file. */
const NOT_A_FILE = new Map([
  ['ELOOP', fault('result-link', {})],
  ['ENXIO', fault('socket', {})],
]);
const MISSING = new Set(['ENOENT', 'ENOTDIR']);

async function failedReading(
  error: unknown,
  stat: () => Promise<FileStats>,
  isWorthIt: Options['isWorthIt'],
): Promise<FoundResult> {
  const code = errnoOf(error);
  if (MISSING.has(code)) return { kind: 'absent' };
  const found = NOT_A_FILE.get(code);
  const stats = found && (await stat().catch(() => undefined)); // what cannot be opened may still be known to be no result
  if (!found || !stats) return { kind: 'unreadable', code };
  const sight = toSight(stats);
  if (!isWorthIt(sight)) return { kind: 'skipped' };
  const judgement: Judgement = { kind: 'wrong', fault: found };
  return { kind: 'present', judgement, writtenAt: time.now(), stamp: sight.stamp, lease: nothing };
}

function refuse(stats: FileStats, maxBytes: number): Fault | undefined {
  if (!stats.isFile()) return fault(stats.isDirectory() ? 'directory' : stats.isFIFO() ? 'pipe' : 'no-file', {});
  return stats.size > maxBytes ? fault('result-too-large', { bytes: stats.size, maxBytes }) : undefined;
}

const MAX_RULES = 200;
/** As much of a text that is no result is kept, in bytes. */
const MAX_WRITTEN = 4096;

/** The text that the client wrote, to the letter, and what it tells. */
export type ReadAnswer = {
  body: string;
  success: boolean;
  outcome: Outcome | null;
  error: string | null;
  rules: ReportedRules | null;
  /** It says that it had no effects. */
  isDry: boolean;
  /** It tells of a node that ran, or that the run was a success. */
  showsRun: boolean;
};

/** The judgement on the bytes of a result file: an answer, the beginning of one, or something no further byte can make one. */
type Judgement =
  | ({ kind: 'answer' } & ReadAnswer)
  | { kind: 'incomplete'; fault: Fault }
  /** `clientDied`: clients whose process ends while it runs a rule leave this. `written`: the beginning of the text. */
  | { kind: 'wrong'; fault: Fault; clientDied?: true; written?: string };

/** Judges a result file. The answer keeps every value as the client wrote it and has all six members of the interface. */
export function judgeResult(bytes: Uint8Array, mockId: string, dialect: Dialect): Judgement {
  const judgement = judge(bytes, mockId, dialect);
  if (judgement.kind !== 'wrong') return judgement;
  const decoded = decodeUtf8(bytes.subarray(0, MAX_WRITTEN));
  return decoded.kind === 'wrong' ? judgement : { ...judgement, written: decoded.text };
}

function judge(bytes: Uint8Array, mockId: string, { dataField }: Dialect): Judgement {
  const read = readAnswer(bytes, { mockId, dataField });
  return read.kind === 'read' ? completed(read.members, mockId, dataField) : read;
}

function completed(members: Member[], mockId: string, dataField: string): Judgement {
  const given = membersGiven(members);
  const isSuccess = given.get('success')?.raw === 'true';
  const answer = new Map<string, string>();
  for (const { key, raw } of members) {
    if (key === dataField) answer.set(DATA_FIELD, raw);
    else if (key !== DATA_FIELD) answer.set(key, raw);
  }
  const complete = (key: string, fallback: string) => {
    const raw = answer.get(key);
    if (raw === undefined || raw === 'null') answer.set(key, fallback);
  };
  complete('mockId', JSON.stringify(mockId));
  complete(DATA_FIELD, '{}');
  complete('process', 'null');
  complete('error', 'null');
  complete('executeAt', String(time.now()));
  const read = {
    outcome: outcomeOf(given.get('process'), given.get('outcome')),
    error: textOf(given.get('error')),
    rules: rulesOf(given.get('rules')),
  };
  const isDry = given.get('dryRun')?.raw === 'true';
  const showsRun = isSuccess || isSomething(given.get('process'));
  return { kind: 'answer', body: joinMembers(answer), success: isSuccess, ...read, isDry, showsRun };
}

/** Whether a trace has an entry: something ran. */
const isSomething = (process: Member | undefined): boolean =>
  process !== undefined && !['""', '[]'].includes(process.raw);

function textOf(member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null;
  const text: unknown = JSON.parse(member.raw);
  return typeof text === 'string' && text !== '' ? text : null;
}

/** A client may say more than we ask for: what is no answer to this question is nothing. */
function rulesOf(member: Member | undefined): ReportedRules | null {
  if (member?.kind !== 'object' || member.raw.length > MAX_RULES) return null;
  return reportedRulesSchema.safeParse(parseExact(member.raw)).data ?? null;
}

/** A file as it looks unread. `stamp` tells whether it changed between two looks. */
export type Sight = { stamp: string; bytes: number };

export const toSight = ({ ino, size, mtimeMs }: FileStats): Sight => ({
  stamp: `${ino}:${size}:${mtimeMs}`,
  bytes: size,
});

/** Something that is no result may still be in the making: it counts once it has not changed for this long. */
const WRONG_FOR_MS = 2000;
/** A file may change within the grain of its time: what looks the same is read once more, and again before it is given up. */
const READ_AT_MOST = 2;

/**
 * The file at the result path, as long as it is not a valid result, so that it is not read again and again. `seen`: how it looked the last
 * time. `read`: what it was when it was read last, since when it has been the same, and how often it was read.
 */
export type UnusableResult = {
  seen: string | null;
  read: { stamp: string; judgement: Judgement; since: number; times: number } | null;
};

/** Nothing is there. */
export const noResult: UnusableResult = { seen: null, read: null };

/**
 * Whether reading what is there now may tell something new. A large file that grows is read once it stands still, or when this is the last
 * look.
 */
export function mayBeNews({ seen, read }: UnusableResult, { stamp, bytes }: Sight, isLastRead: boolean): boolean {
  if (stamp === read?.stamp) return read.times < READ_AT_MOST || isLastRead;
  return read === null || bytes <= INLINE_BYTES || stamp === seen || isLastRead;
}

/** It looks like this. */
export function withSight(unusable: UnusableResult, { stamp }: Sight): UnusableResult {
  return { ...unusable, seen: stamp };
}

/** It was read, and is no answer. */
export function withJudgement(
  { seen, read }: UnusableResult,
  stamp: string,
  judgement: Judgement,
  now: number,
): UnusableResult {
  const same = read?.stamp === stamp ? read : null;
  return { seen, read: { stamp, judgement, since: same?.since ?? now, times: (same?.times ?? 0) + 1 } };
}

/** Whether it is not only incomplete, and has been the same for so long that it will not become a result. */
export function isWrongForGood({ seen, read }: UnusableResult, now: number): boolean {
  return read?.judgement.kind === 'wrong' && read.stamp === seen && now - read.since >= WRONG_FOR_MS;
}

/** The fault of the result, whether it says that the client's process ended while it ran the rule, and the beginning of its text. */
export function faultOf({
  read,
}: UnusableResult): { fault: Fault; clientDied: boolean; written: string | undefined } | undefined {
  if (read === null || read.judgement.kind === 'answer') return undefined;
  const { judgement } = read;
  const { clientDied, written } = judgement.kind === 'wrong' ? judgement : {};
  return { fault: judgement.fault, clientDied: clientDied === true, written };
}

// The memory of large results.

/** Memory that the holder may use until it is released; releasing twice is safe. */
export type Lease = { release(): void };
export type MemoryBudget = ReturnType<typeof createMemoryBudget>;

const nothing: Lease = { release: () => {} };

/**
 * Bounds how many bytes of large results a worker has in memory at once: many that arrive at the same moment are read,
 * judged and put into the store a few at a time, in the order they were noticed. Small ones never wait.
 */
export function createMemoryBudget(maxBytes: number) {
  const waiting: { bytes: number; enter: () => void }[] = [];
  let taken = 0;
  let resting = false;

  /** Lets one in, then pauses as long as its synchronous work took, so that others get their turn. */
  function letIn(): void {
    const next = waiting[0];
    // One that is larger than the whole budget gets all of it.
    if (!next || resting || (taken > 0 && taken + next.bytes > maxBytes)) return;
    waiting.shift();
    taken += next.bytes;
    resting = true;
    const enteredAt = time.monotonic();
    next.enter();
    time.setImmediate(() => time.setTimeout(rested, time.monotonic() - enteredAt));
  }

  function rested(): void {
    resting = false;
    letIn();
  }

  function leaseOf(bytes: number): Lease {
    let held = bytes;
    return {
      release() {
        taken -= held;
        held = 0;
        letIn();
      },
    };
  }

  return {
    /** Resolves to a lease once that many bytes are free. Rejects with the signal's reason when it is aborted before. */
    async acquire(bytes: number, signal?: AbortSignal): Promise<Lease> {
      if (bytes <= INLINE_BYTES) return nothing;
      const { promise, resolve, reject } = Promise.withResolvers<Lease>();
      const entry = { bytes, enter: () => resolve(leaseOf(bytes)) };
      const leave = () => {
        const at = waiting.indexOf(entry);
        if (at >= 0) waiting.splice(at, 1);
        reject(signal?.reason);
      };
      waiting.push(entry);
      signal?.addEventListener('abort', leave, { once: true });
      letIn();
      return promise.finally(() => signal?.removeEventListener('abort', leave));
    },
  };
}
