import type { WorkerLoad } from '../../shared/queue/takers.ts';

export type Workload = ReturnType<typeof createWorkload>;

/** Counts what a worker has to do, for the APIs: they refuse calls when it is too much. Time at a client does not count. */
export function createWorkload() {
  let open = 0;
  let atClients = 0;
  let begun = 0;

  return {
    /** Counts an execution while the task runs. */
    async during<T>(task: () => Promise<T>): Promise<T> {
      open++;
      return task().finally(() => open--);
    },
    /** The execution waits for its client, or for a slot there, while the task runs. */
    async atClient<T>(task: () => Promise<T>): Promise<T> {
      atClients++;
      return task().finally(() => atClients--);
    },
    /** An execution was sent to a client, refused, or put back; or it waits for a slot at its client. */
    begun(): void {
      begun++;
    },
    load: (): WorkerLoad => ({ busy: open - atClients, begun }),
  };
}
