import { type Query, queryResultSchema } from '../shared/contract/query.ts';
import { queueNames } from '../shared/contract/queue-names.ts';
import { random } from '../shared/ports/process.ts';
import { followJobs } from '../shared/queue/follow-jobs.ts';
import type { QueueBackend } from '../shared/queue/queue-backend.ts';
import { type Refused, refused } from '../shared/runtime/http-refusals.ts';
import type { Settings } from '../shared/runtime/settings/settings.ts';

/** `found`: the answer as JSON text; `stored` is its key, where it is in the store. `refused`: why there is none. */
type Reply = { kind: 'found'; body: string; stored?: string | undefined } | Refused;

export type AskWorker = ReturnType<typeof openAskWorker>;
type AskWorkerDependencies = {
  backend: QueueBackend;
  settings: Settings;
};

/** A question, and the address that its answer is published to. */
type Asked = Query & { replyTo?: string };

/** Asks any worker a question about clients and rules. The API itself never looks at the shared directory. */
export function openAskWorker({ backend, settings }: AskWorkerDependencies) {
  const queue = backend.openQueue<Asked>(queueNames.queries); // the health of the executions' queue reports its faults
  const jobs = followJobs<Asked, Reply>({
    backend,
    queue,
    read: (_id, value) => toReply(value),
    onUnfinished: async () => {},
  });

  async function toReply(value: unknown): Promise<Reply> {
    if (value === null) return refused('worker-could-not-answer', {});
    const parsed = queryResultSchema.safeParse(value);
    if (!parsed.success) return refused('answer-of-newer-version', {});
    const { body, stored, refused: refusal } = parsed.data;
    if (refusal) return { kind: 'refused', ...refusal };
    const text = body ?? (stored === undefined ? null : await backend.store.get(stored).catch(() => null));
    return text === null ? refused('answer-lost', {}) : { kind: 'found', body: text, stored };
  }

  return {
    ready: jobs.ready,
    async ask(query: Query, timeoutMs = settings.QUEUE_TIMEOUT_MS): Promise<Reply> {
      const id = random.uuid();
      const answer = jobs.wait(id, query, timeoutMs, async () => {
        await queue.removeWaiting(id).catch(() => {});
        return refused('no-worker-answered', { timeoutMs });
      });
      queue.add(id, { ...query, replyTo: jobs.replyTo }).catch(() => {
        jobs.settle(id, refused('store-away', { why: 'away' }));
      });
      const reply = await answer;
      // Remove the answer later than it is read: an event and a re-check may both read it. If this fails, it expires after a minute.
      if (reply.kind === 'found' && reply.stored !== undefined) backend.store.remove(reply.stored).catch(() => {});
      return reply;
    },
    async close(): Promise<void> {
      await jobs.close();
      await queue.close();
    },
  };
}
