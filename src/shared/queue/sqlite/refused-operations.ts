import { EventEmitter } from 'node:events';
import { ErrorCode } from 'bullmq';

/** Operations that this service never uses: flows, schedulers, deduplication, limits, logs, and changes of waiting jobs. */
export abstract class UnsupportedOperations extends EventEmitter {
  addFlow = (): Promise<never> => refuse('addFlow');
  addJobScheduler = (): Promise<never> => refuse('addJobScheduler');
  updateJobSchedulerNextMillis = (): Promise<never> => refuse('updateJobSchedulerNextMillis');
  removeJobScheduler = (): Promise<never> => refuse('removeJobScheduler');
  moveToWaitingChildren = (): Promise<never> => refuse('moveToWaitingChildren');
  removeUnprocessedChildren = (): Promise<never> => refuse('removeUnprocessedChildren');
  removeChildDependency = (): Promise<never> => refuse('removeChildDependency');
  removeDeduplicationKey = (): Promise<never> => refuse('removeDeduplicationKey');
  deleteDeduplicationKey = (): Promise<never> => refuse('deleteDeduplicationKey');
  setRateLimit = (): Promise<never> => refuse('setRateLimit');
  removeRateLimitKey = (): Promise<never> => refuse('removeRateLimitKey');
  removeDeprecatedPriorityKey = (): Promise<never> => refuse('removeDeprecatedPriorityKey');
  changeDelay = (): Promise<never> => refuse('changeDelay');
  changePriority = (): Promise<never> => refuse('changePriority');
  retryFinishedJob = (): Promise<never> => refuse('retryFinishedJob');
  retryFinishedJobs = (): Promise<never> => refuse('retryFinishedJobs');
  addLog = (): Promise<never> => refuse('addLog');
  clearLogs = (): Promise<never> => refuse('clearLogs');

  // Questions of the page of the queues, with empty answers.
  getJobScheduler = async (): Promise<[null, null]> => [null, null];
  isJobScheduler = async (): Promise<boolean> => false;
  getJobSchedulerData = async (): Promise<Record<string, string>> => ({});
  getJobSchedulersRange = async (): Promise<string[]> => [];
  getJobSchedulersCount = async (): Promise<number> => 0;
  getDeduplicationJobId = async (): Promise<null> => null;
  getRateLimitTtl = async (): Promise<number> => -2;
  getJobLogs = async (): Promise<{ logs: string[]; count: number }> => ({ logs: [], count: 0 });
  getMetrics = async (): Promise<[string[], string[], number]> => [['0', '0', '0'], [], 0];
  getDependencyCounts = async (_jobId: string, types: string[]): Promise<number[]> => types.map(() => 0);
  getDependencies = async () => ({ processed: {}, unprocessed: [], ignored: {}, failed: [] });
  getProcessedChildrenValues = async (): Promise<Record<string, string>> => ({});
  getIgnoredChildrenFailures = async (): Promise<Record<string, string>> => ({});
  paginate = async () => ({ cursor: '0', items: [], total: 0, jobs: [] });
  /** Whoever is connected is this process. */
  getClientList = async (): Promise<string[]> => [''];
  removeOrphanedJobs = async (): Promise<number> => 0;
}

/** An operation, or an option of one, that the embedded queue has not. */
export const unsupported = (what: string) => new Error(`the embedded queue has no ${what}: use Redis for it`);

const refuse = (operation: string): Promise<never> => Promise.reject(unsupported(operation));

// What it refuses with BullMQ's own codes.
export const missing = (id: string, command: string) =>
  refusal(ErrorCode.JobNotExist, `Missing key for job ${id}. ${command}`);
export const notActive = (id: string, command: string) =>
  refusal(ErrorCode.JobNotInState, `Job ${id} is not in the active state. ${command}`);

export function refusal(code: ErrorCode, message: string): Error {
  return Object.assign(new Error(message), { code });
}
