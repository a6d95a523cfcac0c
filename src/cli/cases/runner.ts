import type { BatchReport } from '../../shared/contract/batches.ts';
import type { HttpApi } from '../terminal/http-api.ts';
import { batchRequest } from './batch-request.ts';
import { runBatch, type Watching } from './follow-batch.ts';
import type { Suite } from './suite.ts';

/** The batch id of a run in this process. */
export const IN_PROCESS = 'in process';

/** How the cases of a suite are to be run. */
export type RunOptions = { target?: string[]; concurrency?: string; bail?: boolean; dryRun?: boolean; json?: boolean };

/** A suite that has run. `json`: the whole report, with what each run changed in the data. */
export type Ran = { suite: Suite; report: BatchReport; json: string };

/** Runs suites: on live clients, or in this process. */
export type Runner = {
  run(suite: Suite, options: RunOptions): Promise<Ran>;
  /** One item with its input and what the run changed, as JSON text. */
  itemText(ran: Ran, n: number): Promise<string>;
};

/** Runs suites as batches of the service; when `signal` aborts, the one that runs is cancelled. */
export function createServiceRunner(api: HttpApi, around: Pick<Watching, 'stderr' | 'signal'>): Runner {
  return {
    async run(suite, options) {
      const body = { text: batchRequest(suite, options), type: 'application/json' };
      return { suite, ...(await runBatch(api, body, { ...around, json: options.json })) };
    },

    async itemText({ report }, n) {
      return (await api.call(`/rule-server/mock/batches/${report.batchId}/items/${n}`)).text;
    },
  };
}
