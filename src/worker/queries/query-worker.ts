import { QUERY_VERSION, type Query, type QueryResult, querySchema } from '../../shared/contract/query.ts';
import { queueNames } from '../../shared/contract/queue-names.ts';
import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import type { TakenJob } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { Fault } from '../../shared/reasons/causes.ts';
import { asFault } from '../../shared/reasons/template.ts';
import { AWAY_MS } from '../../shared/runtime/async.ts';
import { refusalOf } from '../../shared/runtime/http-refusals.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';
import type { Answer } from './answer.ts';

const CONCURRENCY = 16;
const STORED_SECONDS = 60;

type QueryWorkerDependencies = {
  backend: QueueBackend;
  answerQuery: (query: Query) => Promise<Answer>;
  /** Why this worker cannot use its shared directory; null while it can. */
  fault: () => Fault | null;
  /** For so long after it was asked, a question that this worker cannot answer is left to other workers. */
  waitForOthersMs: number;
  log: Logger;
};

/** The quick queue: questions never wait behind executions. */
export function createQueryWorker({ backend, answerQuery, fault, waitForOthersMs, log }: QueryWorkerDependencies) {
  // The executions' worker reports the faults of the store.
  const worker = backend.openWorker(queueNames.queries, process, {
    concurrency: CONCURRENCY,
    onDefect: (id, error) => log.error({ err: error, id }, 'a question could not be answered'),
  });
  worker.run();

  async function process(job: TakenJob): Promise<unknown> {
    const parsed = querySchema.safeParse(job.data);
    const answer: Answer = parsed.success ? await answerQuery(parsed.data) : { kind: 'pass-on' };
    // An API of an earlier version cannot read an answer of a later one.
    if (parsed.success && answer.kind !== 'pass-on') return job.finish(await toResult(answer, parsed.data.v));
    if (time.now() < job.addedAt + waitForOthersMs) return job.snooze(AWAY_MS);
    const why = fault();
    const refused =
      why === null ? refusalOf('question-of-newer-version', {}) : refusalOf('directory-unusable', asFault(why));
    return job.finish({ v: QUERY_VERSION, refused });
  }

  async function toResult(answer: Exclude<Answer, { kind: 'pass-on' }>, v: number): Promise<QueryResult> {
    if (answer.kind === 'refused') return { v, refused: { code: answer.code, params: answer.params } };
    if (Buffer.byteLength(answer.body) <= INLINE_BYTES) return { v, body: answer.body };
    const stored = `query:${random.uuid()}`;
    await backend.store.setIfAbsent(stored, answer.body, STORED_SECONDS);
    return { v, stored };
  }

  return { close: () => worker.close() };
}
