import { z } from 'zod';
import { random } from '../../../seams/random.ts';
import type { JobWorker } from '../../queue/queue-backend.ts';
import { createFollowers, type Replies, type Reply, type ReplyListener } from '../../replies/replies.ts';

const addressedSchema = z.object({ replyTo: z.string() });

/** Replies within one process: a worker's own events, of endings that the queue accepted, go straight to the API that asked. */
export function createEmbeddedReplies() {
  const listeners = new Map<string, ReplyListener>();
  const followers = createFollowers();
  const keyOf = (queue: string, id: string) => `${queue}:${id}`;

  function tell(queue: string, replyTo: string | undefined, reply: Reply): void {
    if (replyTo !== undefined) listeners.get(replyTo)?.onReply(reply);
    followers.tell(keyOf(queue, reply.id));
  }

  return {
    tell,
    open(queue: string, listener: ReplyListener): Replies {
      const address = random.uuid();
      listeners.set(address, listener);
      return {
        address,
        ready: Promise.resolve(),
        follow: (id, changed) => followers.add(keyOf(queue, id), changed),
        close: async () => void listeners.delete(address),
      };
    },
    /** Tells of the jobs of a worker. */
    of<Data, Result>(queue: string, worker: JobWorker<Data, Result>): void {
      const replyToOf = (data: Data) => addressedSchema.safeParse(data).data?.replyTo;
      worker.on('completed', ({ id = '', data }, value) =>
        tell(queue, replyToOf(data), { kind: 'completed', id, value }),
      );
      worker.on('failed', (job) => {
        if (job?.finishedOn) tell(queue, replyToOf(job.data), { kind: 'changed', id: job.id ?? '' });
      });
      worker.on('progress', ({ id = '' }) => followers.tell(keyOf(queue, id)));
    },
  };
}
