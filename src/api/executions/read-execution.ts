import type { Ending } from '../../shared/contract/endings/ending.ts';
import { type ExecutionRecord, noAnswerBody, withoutReason } from '../../shared/contract/execution-record.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { ExecutionQueue } from '../../shared/queue/queue.ts';
import { whileItRuns } from '../../shared/runtime/async.ts';
import type { History, HistoryFilter, HistoryPart } from '../../shared/store/history/history.ts';
import type { ReadAnswer } from '../calls/submit-execution.ts';
import { createReadJobs, NewerExecution, unlessNewer } from './read-jobs.ts';
import { byAge } from './search/open-cursor.ts';
import { shownRecord } from './shown-record.ts';

/** One execution with the texts that belong to it; `result` is what its caller was or would have been answered. */
type Execution = {
  record: ExecutionRecord;
  input: string | null;
  result: string | null;
  lateResult: string | null;
};

/**
 * An execution as it may be shown. `masked`: the fields that are hidden in it. `gone`: nothing of it is kept but the record.
 */
export type ShownExecution = Execution & { masked: string[]; gone: boolean };

type ReadExecutionDependencies = {
  queue: ExecutionQueue;
  history: History;
  privacy: Privacy;
  readAnswer: ReadAnswer;
};

/** Reads executions: settled ones from the history, open ones from the queue, those of long ago from what is pinned. */
export function createReadExecution(dependencies: ReadExecutionDependencies) {
  const { history, privacy } = dependencies;
  const { jobs, find, fromQueue, fromHistory } = createSources(dependencies);

  /** The ending for its caller: the job holds all of it for a while, also for apps whose history does not. */
  async function whole(mockId: string): Promise<Execution | null> {
    const record = await history.get(mockId);
    if (!record) return fromQueue(mockId);
    const inQueue = privacy.isPrivate(record.app) ? await fromQueue(mockId).catch(unlessNewer) : null;
    return inQueue && inQueue.result !== null ? { ...inQueue, record } : fromHistory(record);
  }

  async function shown(mockId: string): Promise<ShownExecution | null> {
    const record = await history.get(mockId);
    if (record && !privacy.isOff(record.app)) return masked(await fromHistory(record), privacy);
    const job = await fromQueue(mockId).catch((error) => (record ? unlessNewer(error) : Promise.reject(error)));
    const known = record ?? job?.record;
    if (!known) {
      const kept = await history.pins.get(mockId);
      return kept && masked(await fromHistory(kept, history.pins), privacy);
    }
    if (job && (!privacy.isOff(known.app) || job.collect)) return masked({ ...job, record: known }, privacy);
    const nothing = { input: null, result: null, lateResult: null, masked: [EVERYTHING] };
    return { record: known, ...nothing, gone: known.ending !== null };
  }

  const readOpen = whileItRuns(jobs.open);

  return {
    /** The record alone; null when the id is unknown. */
    find,
    whole,
    /** As it may be shown to those who read it later. */
    get: shown,
    /** The open executions, newest first, out of the newest 2,000. */
    async open(filter: Filter): Promise<ExecutionRecord[]> {
      return (await readOpen()).filter((record) => isWanted(record, filter)).sort(byAge);
    },
  };
}

type Filter = Omit<HistoryFilter, 'limit' | 'cursor'>;

function isWanted(record: ExecutionRecord, { app, apps, ruleId, batchId }: Filter): boolean {
  return (
    record.batchId === (batchId ?? null) &&
    (app === undefined || record.app === app) &&
    (!apps || apps.has(record.app)) &&
    (ruleId === undefined || record.ruleId === ruleId)
  );
}

type Texts = Pick<HistoryPart, 'input' | 'result' | 'lateResult'>;

/** The history and the queue, as what is in them. */
function createSources({ queue, history, privacy, readAnswer }: ReadExecutionDependencies) {
  const jobs = createReadJobs(queue);

  async function fromQueue(mockId: string): Promise<(Execution & { collect: boolean }) | null> {
    const found = await jobs.whole(mockId);
    if (found === 'newer') throw new NewerExecution(mockId);
    if (found === null) return null;
    const { input, ending, collect } = found;
    return {
      record: withoutError(found.record),
      input,
      result: await resultOf(mockId, ending),
      lateResult: null,
      collect,
    };
  }

  async function recordInQueue(mockId: string): Promise<ExecutionRecord | null> {
    const found = await jobs.short(mockId);
    if (found === 'newer') throw new NewerExecution(mockId);
    return found === null || found === undefined ? null : withoutError(found.record);
  }

  /** A job's error still quotes what MASK hides; the history's does not. */
  const withoutError = (record: ExecutionRecord) => (privacy.isPrivate(record.app) ? withoutReason(record) : record);

  async function resultOf(mockId: string, ending: Ending | null): Promise<string | null> {
    if (ending === null) return null;
    return ending.kind === 'answered' ? readAnswer(mockId, ending.result) : noAnswerBody(mockId, ending.noAnswer);
  }

  async function fromHistory(record: ExecutionRecord, kept: Texts = history): Promise<Execution> {
    const { mockId } = record;
    const [input, result, lateResult] = await Promise.all([
      kept.input(mockId),
      kept.result(mockId),
      record.lateResult ? kept.lateResult(mockId) : null,
    ]);
    return { record: await shownRecord(record, kept, privacy), input, result, lateResult };
  }

  async function find(mockId: string): Promise<ExecutionRecord | null> {
    const record = await history.get(mockId);
    if (record) return shownRecord(record, history, privacy);
    const inQueue = await recordInQueue(mockId);
    if (inQueue) return inQueue;
    const kept = await history.pins.get(mockId);
    return kept && shownRecord(kept, history.pins, privacy);
  }
  return { jobs, find, fromQueue, fromHistory };
}

/** In the place of a path: nothing is shown. */
const EVERYTHING = '*';

function masked({ record, input, result, lateResult }: Execution, privacy: Privacy): ShownExecution {
  const mask = privacy.maskFor(record.app);
  if (mask === null) return { record, input, result, lateResult, masked: [], gone: false };
  const texts = {
    input: input === null ? null : mask.data(input),
    result: result === null ? null : mask.answer(result),
    lateResult: lateResult === null ? null : mask.answer(lateResult),
  };
  return { record, ...texts, masked: mask.hits(), gone: false };
}
