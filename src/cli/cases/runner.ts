import type { BatchReport } from '../../shared/contract/batches.ts';
import type { HttpApi } from '../terminal/http-api.ts';
import { batchRequest, type RunOptions } from './batch-request.ts';
import { runBatch, type Watching } from './follow-batch.ts';
import type { Suite } from './suite.ts';

/** The batch id of a run in this process. */
export const IN_PROCESS = 'in process';

/** A suite that has run. `json`: the whole report as it was printed. */
export type Ran = { suite: Suite; report: BatchReport; json: string };

/** Runs suites: on live clients, or in this process. */
export type Runner = (suite: Suite, options: RunOptions) => Promise<Ran>;

/** Runs suites as batches of the service; when `signal` aborts, the one that runs is cancelled. */
export function createServiceRunner(api: HttpApi, around: Pick<Watching, 'stderr' | 'signal'>): Runner {
  return async (suite, options) => {
    const body = { text: batchRequest(suite, options), type: 'application/json' };
    return { suite, ...(await runBatch(api, body, { ...around, json: options.json })) };
  };
}
