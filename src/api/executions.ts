import { setTimeout } from 'node:timers/promises';
import { type JobData, type JobResult, jobDataSchema, jobResultSchema } from '../shared/contract.ts';
import type { createCancelSender } from '../shared/control.ts';
import { type ExecutionRecord, endedRecord, noAnswerBody, openRecord, progressSchema } from '../shared/execution.ts';
import type { History, HistoryFilter, HistoryPage } from '../shared/history.ts';
import { noAnswerSchema } from '../shared/outcomes.ts';
import { parseJson } from '../shared/parse-json.ts';
import type { ExecutionQueue } from '../shared/queue.ts';
import { isEndState } from '../shared/states.ts';
import type { Store } from '../shared/store.ts';
import type { FinishedExecutions } from './finished-executions.ts';

/** One execution with the texts that belong to it; `result` is what its caller was or would have been answered. */
export type Execution = {
  record: ExecutionRecord;
  input: string | null;
  result: string | null;
  lateResult: string | null;
};

/** Events are hints; this often an execution somebody follows is looked at anyway. */
const LOOK_AGAIN_MS = 1000;

type Dependencies = {
  queue: ExecutionQueue;
  history: History;
  finished: FinishedExecutions;
  cancels: ReturnType<typeof createCancelSender>;
  store: Store;
};

export type Executions = ReturnType<typeof createExecutions>;

/** Executions as a resource: those on their way are read from the queue, settled ones from the history. */
export function createExecutions({ queue, history, finished, cancels, store }: Dependencies) {
  /** The record alone; null when nobody knows the id. */
  async function find(mockId: string): Promise<ExecutionRecord | null> {
    return (await history.get(mockId)) ?? (await fromQueue(mockId))?.record ?? null;
  }

  async function get(mockId: string): Promise<Execution | null> {
    const record = await history.get(mockId);
    if (!record) return fromQueue(mockId);
    const [input, result, lateResult] = await Promise.all([
      history.input(mockId),
      history.result(mockId),
      record.lateResult ? history.lateResult(mockId) : null,
    ]);
    return { record, input, result, lateResult };
  }

  async function fromQueue(mockId: string): Promise<Execution | null> {
    const job = await queue.getJob(mockId);
    const open = job ? recordOf(mockId, job) : null;
    if (!job || !open) return null;
    const input = job.data.input;
    if (job.finishedOn === undefined || job.finishedOn === null)
      return { record: open, input, result: null, lateResult: null };
    const returned = jobResultSchema.safeParse(job.returnvalue);
    if (returned.success) {
      const record = endedRecord(open, { kind: 'answered', ...returned.data }, job.finishedOn);
      const { body, stored } = returned.data;
      return {
        record,
        input,
        result: body ?? (stored === undefined ? null : ((await store.get(stored)) ?? (await history.result(mockId)))),
        lateResult: null,
      };
    }
    const failed = noAnswerSchema.safeParse(parseJson(job.failedReason ?? ''));
    if (!failed.success) return { record: open, input, result: null, lateResult: null };
    const record = endedRecord(open, { kind: 'unanswered', noAnswer: failed.data }, job.finishedOn);
    return { record, input, result: noAnswerBody(mockId, failed.data), lateResult: null };
  }

  return {
    find,
    get,

    /** Newest first; the first page begins with what is still on its way. */
    async list(filter: HistoryFilter): Promise<HistoryPage> {
      const [page, open] = await Promise.all([
        history.list(filter),
        filter.cursor === undefined ? openOnes(filter) : [],
      ]);
      const settled = new Set(page.records.map(({ mockId }) => mockId));
      return { ...page, records: [...open.filter(({ mockId }) => !settled.has(mockId)), ...page.records] };
    },

    /** The record each time it has changed, the first at once, the last in an end state. Ends when `signal` aborts. */
    async *follow(mockId: string, signal: AbortSignal): AsyncGenerator<ExecutionRecord> {
      let steps = 0;
      let wake = () => {};
      const stop = finished.observe(mockId, () => wake());
      try {
        while (!signal.aborted) {
          const changed = new Promise<void>((resolve) => {
            wake = resolve;
          });
          const record = await find(mockId);
          if (!record) return;
          if (record.history.length > steps) yield record;
          steps = Math.max(steps, record.history.length);
          if (isEndState(record.state)) return;
          await Promise.race([changed, setTimeout(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})]);
        }
      } finally {
        stop();
      }
    },

    /** Asks for an execution to be stopped. `settled` and `cancelled`: it had ended already. */
    async cancel(mockId: string): Promise<'asked' | 'settled' | 'cancelled' | 'unknown'> {
      const record = await find(mockId);
      if (!record) return 'unknown';
      if (isEndState(record.state)) return record.state === 'cancelled' ? 'cancelled' : 'settled';
      await cancels.send({ mockId, why: 'asked' });
      return 'asked';
    },
  };

  async function openOnes({ app, ruleId, limit }: HistoryFilter): Promise<ExecutionRecord[]> {
    const jobs = await queue.getJobs(['active', 'waiting', 'delayed', 'prioritized'], 0, limit - 1);
    return jobs
      .flatMap((job) => recordOf(job.id ?? '', job) ?? [])
      .filter(
        (record) => (app === undefined || record.app === app) && (ruleId === undefined || record.ruleId === ruleId),
      )
      .sort((a, b) => (b.history[0]?.at ?? 0) - (a.history[0]?.at ?? 0))
      .slice(0, limit);
  }
}

function recordOf(
  mockId: string,
  job: { data: JobData; timestamp: number; progress: unknown; returnvalue: JobResult },
): ExecutionRecord | null {
  const data = jobDataSchema.safeParse(job.data);
  const progress = progressSchema.safeParse(job.progress);
  if (!data.success) return null;
  return openRecord({
    mockId,
    data: data.data,
    queuedAt: job.timestamp,
    progress: progress.success ? progress.data : null,
  });
}
