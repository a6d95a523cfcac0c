import { randomUUID } from 'node:crypto';
import type { Queue, QueueEventsListener } from 'bullmq';
import { every } from '../../shared/runtime/periodic.ts';
import type { JobEvents, QueueBackend } from '../../shared/store/queue-backend.ts';

const LOOK_EVERY_MS = 500;
/** In an upgrade another older worker may start after the last one was seen. */
const READ_ON_FOR_MS = 60_000;

interface HelloListener extends QueueEventsListener {
  hello: (message: { from: string }, id: string) => void;
}

/** Whether each worker tells how its jobs ended. */
export type AllTell = () => boolean;

type Options = {
  backend: QueueBackend;
  queue: Pick<Queue, 'name'>;
  allTell: AllTell;
  /** Something happened to a job. */
  onChange: (id: string) => void;
  onError: (error: Error) => void;
};

/**
 * Workers of earlier versions do not tell an API how a job ended: only the queue's event stream does. It is read as long as there
 * is such a worker, since every entry costs every API that reads it.
 */
export function followOlderWorkers({ backend, queue, allTell, onChange, onError }: Options) {
  let events: JobEvents | undefined;
  let neededAt = 0;
  let closing: Promise<void> | undefined;

  function open(): JobEvents {
    const opened = backend.openEvents(queue.name);
    for (const name of ['progress', 'completed', 'failed', 'removed'] as const)
      opened.on(name, ({ jobId }: { jobId: string }) => onChange(jobId));
    opened.on('error', onError);
    return opened;
  }

  async function look(): Promise<void> {
    if (!allTell()) {
      neededAt = Date.now();
      events ??= open();
    } else if (events && Date.now() - neededAt > READ_ON_FOR_MS) {
      const unneeded = events;
      events = undefined;
      await unneeded.close();
    }
  }
  const looks = every(LOOK_EVERY_MS, look, () => {});

  return {
    /** Resolves once an event of our own came back: from then on the events of older workers are seen. */
    async ready(): Promise<void> {
      await look();
      if (!events) return;
      const me = randomUUID();
      const producer = backend.openEventsProducer(queue.name);
      producer.on('error', () => {}); // retried below
      let heard = false;
      events.on<HelloListener, 'hello'>('hello', ({ from }) => {
        heard ||= from === me;
      });
      while (!heard && !closing) {
        await producer.publishEvent({ eventName: 'hello', from: me }, backend.maxEvents).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await producer.close();
    },
    async close(): Promise<void> {
      closing ??= looks.stop().then(() => events?.close());
      await closing;
    },
  };
}
