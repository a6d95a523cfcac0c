import type { QueueEventsListener } from 'bullmq';
import { z } from 'zod';
import type { EventsProducer, JobEvents, QueueBackend } from './queue-backend.ts';
import { queueNames } from './queue-names.ts';

/** `caller-left`: no caller waits for the answer. `asked`: a caller asked to stop it. */
const cancelSchema = z.object({ mockId: z.string(), why: z.enum(['caller-left', 'asked']) });
export type Cancel = z.infer<typeof cancelSchema>;

interface ControlListener extends QueueEventsListener {
  cancel: (message: unknown, id: string) => void;
}

const MAX_MESSAGES_KEPT = 1000;

/** Tells every worker to cancel an execution. Best effort: a worker that does not hear it runs on to the deadline. */
export function createCancelSender(backend: QueueBackend) {
  const producer: EventsProducer = backend.openEventsProducer(queueNames.control);
  producer.on('error', () => {}); // the queue's own connection reports the same fault
  return {
    send: ({ mockId, why }: Cancel) => producer.publishEvent({ eventName: 'cancel', mockId, why }, MAX_MESSAGES_KEPT),
    close: () => producer.close(),
  };
}

/** Hears the cancels sent to all workers; also the last ones before it listened, for an execution it may take over. */
export function listenForCancels(backend: QueueBackend, onCancel: (cancel: Cancel) => void) {
  const events: JobEvents = backend.openEvents(queueNames.control, { fromStart: true });
  events.on('error', () => {}); // the worker's own connection reports the same fault
  events.on<ControlListener, 'cancel'>('cancel', (message) => {
    const parsed = cancelSchema.safeParse(message);
    if (parsed.success) onCancel(parsed.data);
  });
  return { close: () => events.close() };
}
