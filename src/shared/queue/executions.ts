import type { JobData } from '../contract/job.ts';
import type { Queue } from './queue.ts';

export type ExecutionQueue = Queue<JobData>;

/** Puts an execution on the queue. What lists show of it, its data without the input, is beside the data. */
export function addExecution(queue: Pick<ExecutionQueue, 'add'>, mockId: string, data: JobData): Promise<void> {
  const { input: _, ...head } = data;
  return queue.add(mockId, data, { head: JSON.stringify(head) });
}
