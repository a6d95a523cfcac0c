import { randomUUID } from 'node:crypto';
import { JOB_VERSION } from '../shared/contract.ts';
import type { Logger } from '../shared/logger.ts';
import { type Query, type QueryResult, querySchema } from '../shared/query.ts';
import { type QueueBackend, queueNames } from '../shared/queue.ts';
import { INLINE_BYTES } from '../shared/store.ts';
import type { Answer } from './answer-query.ts';

const CONCURRENCY = 16;
const STORED_SECONDS = 60;

type Dependencies = { backend: QueueBackend; answerQuery: (query: Query) => Promise<Answer>; log: Logger };

/** The quick queue: questions never wait behind executions. */
export function createQueryWorker({ backend, answerQuery, log }: Dependencies) {
  const v = JOB_VERSION;
  const worker = backend.openWorker<Query, QueryResult>(
    queueNames.queries,
    async ({ data }) => process(data),
    CONCURRENCY,
  );
  worker.on('error', () => {}); // the executions' worker reports the same incident
  worker.run().catch((error) => log.error({ err: error }, 'the loop of the queries worker ended'));

  async function process(data: Query): Promise<QueryResult> {
    const answer = await answerQuery(querySchema.parse(data));
    if (answer.kind === 'refused') return { v, refused: { status: answer.status, error: answer.error } };
    if (Buffer.byteLength(answer.body) <= INLINE_BYTES) return { v, body: answer.body };
    const stored = `query:${randomUUID()}`;
    await backend.store.putOnce(stored, answer.body, STORED_SECONDS);
    return { v, stored };
  }

  return { close: () => worker.close() };
}
