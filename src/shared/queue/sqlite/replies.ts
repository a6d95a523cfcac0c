import { random } from '../../ports/process.ts';
import { createFollowers, replyToOf } from '../followers.ts';
import type { Replies, Reply, ReplyListener } from '../queue.ts';

/** Replies within one process: endings go straight to the API that asked. */
export type EmbeddedReplies = ReturnType<typeof createEmbeddedReplies>;

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
    ended: (queue: string, { id, data, value }: { id: string; data: unknown; value: unknown }) =>
      tell(queue, replyToOf(data), { kind: 'ended', id, value }),
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
  };
}
