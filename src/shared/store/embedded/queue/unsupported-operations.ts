import { EventEmitter } from 'node:events';

/** Operations that this service never uses: flows, schedulers, deduplication, limits, logs, and changes of waiting jobs. */
export abstract class UnsupportedOperations extends EventEmitter {
  addFlow = (): never => refuse('addFlow');
  addJobScheduler = (): never => refuse('addJobScheduler');
  updateJobSchedulerNextMillis = (): never => refuse('updateJobSchedulerNextMillis');
  removeJobScheduler = (): never => refuse('removeJobScheduler');
  moveToWaitingChildren = (): never => refuse('moveToWaitingChildren');
  removeUnprocessedChildren = (): never => refuse('removeUnprocessedChildren');
  removeChildDependency = (): never => refuse('removeChildDependency');
  removeDeduplicationKey = (): never => refuse('removeDeduplicationKey');
  deleteDeduplicationKey = (): never => refuse('deleteDeduplicationKey');
  setRateLimit = (): never => refuse('setRateLimit');
  removeRateLimitKey = (): never => refuse('removeRateLimitKey');
  removeDeprecatedPriorityKey = (): never => refuse('removeDeprecatedPriorityKey');
  changeDelay = (): never => refuse('changeDelay');
  changePriority = (): never => refuse('changePriority');
  retryFinishedJob = (): never => refuse('retryFinishedJob');
  retryFinishedJobs = (): never => refuse('retryFinishedJobs');
  addLog = (): never => refuse('addLog');
  clearLogs = (): never => refuse('clearLogs');

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

function refuse(operation: string): never {
  throw new Error(`the embedded queue has no ${operation}: use Redis for it`);
}
