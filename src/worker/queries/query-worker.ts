import { DelayedError, type Job } from 'bullmq';
import { QUERY_VERSION, type Query, type QueryResult, querySchema } from '../../shared/contract/query.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import { random } from '../../shared/seams/random.ts';
import { time } from '../../shared/seams/time.ts';
import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';
import type { QueueBackend } from '../../shared/store/queue/queue-backend.ts';
import { queueNames } from '../../shared/store/queue/queue-names.ts';
import type { Answer } from './answer.ts';

const CONCURRENCY = 16;
const STORED_SECONDS = 60;
const AWAY_MS = 250;
const TOO_NEW =
  'No worker knows this question: the API is of a newer version. Replace the workers first, then the APIs.';

type QueryWorkerDependencies = {
  backend: QueueBackend;
  answerQuery: (query: Query) => Promise<Answer>;
  /** Why this worker cannot use its shared directory; null while it can. */
  fault: () => string | null;
  /** For so long after it was asked, a question that this worker cannot answer is left to other workers. */
  waitForOthersMs: number;
  log: Logger;
};

/** The quick queue: questions never wait behind executions. */
export function createQueryWorker({ backend, answerQuery, fault, waitForOthersMs, log }: QueryWorkerDependencies) {
  const worker = backend.openWorker<Query, QueryResult>(queueNames.queries, process, CONCURRENCY);
  worker.on('error', () => {}); // the executions' worker reports the same fault
  worker.on('failed', (job, error) => log.error({ err: error, id: job?.id }, 'a question could not be answered'));
  worker.run().catch((error) => log.error({ err: error }, 'the loop of the queries worker ended'));

  async function process(job: Job<Query, QueryResult>, token?: string): Promise<QueryResult> {
    const parsed = querySchema.safeParse(job.data);
    if (!parsed.success) return passOn(job, token);
    // An API of an earlier version cannot read an answer of a later one.
    const { v } = parsed.data;
    const answer = await answerQuery(parsed.data);
    if (answer.kind === 'pass-on') return passOn(job, token);
    if (answer.kind === 'refused') return { v, refused: { status: answer.status, error: answer.error } };
    if (Buffer.byteLength(answer.body) <= INLINE_BYTES) return { v, body: answer.body };
    const stored = `query:${random.uuid()}`;
    await backend.store.setIfAbsent(stored, answer.body, STORED_SECONDS);
    return { v, stored };
  }

  async function passOn(job: Job<Query, QueryResult>, token: string | undefined): Promise<QueryResult> {
    if (time.now() >= job.timestamp + waitForOthersMs) {
      const why = fault();
      return { v: QUERY_VERSION, refused: { status: 503, error: why === null ? TOO_NEW : `${why}.` } };
    }
    await job.moveToDelayed(time.now() + AWAY_MS, token).catch(() => {}); // if this fails, its lock will expire, or the API took the question back
    throw new DelayedError();
  }

  return { close: () => worker.close() };
}
