import { z } from 'zod';
import { queueNames } from '../contract/queue-names.ts';
import type { Listening, QueueBackend } from './queue-backend.ts';

/** `caller-left`: no caller waits for the answer. `asked`: a caller asked to stop it. */
const cancelSchema = z.object({ mockId: z.string(), why: z.enum(['caller-left', 'asked']) });
export type Cancel = z.infer<typeof cancelSchema>;

const MAX_MESSAGES_KEPT = 1000;

/** Tells every worker to cancel an execution. Best effort: a worker that does not hear it runs on to the deadline. */
export function createCancelSender(backend: Pick<QueueBackend, 'openSender'>) {
  const sender = backend.openSender(queueNames.control, MAX_MESSAGES_KEPT);
  return {
    send: ({ mockId, why }: Cancel) => sender.send({ mockId, why }),
    close: () => sender.close(),
  };
}

/** Hears the cancels sent to all workers; also the last ones before it listened, for an execution it may take over. */
export function listenForCancels(backend: Pick<QueueBackend, 'listen'>, onCancel: (cancel: Cancel) => void): Listening {
  return backend.listen(
    queueNames.control,
    (message) => {
      const parsed = cancelSchema.safeParse(message);
      if (parsed.success) onCancel(parsed.data);
    },
    { fromStart: true },
  );
}
