import type { BatchReport } from '../../shared/contract/batches.ts';
import type { HttpApi } from '../terminal/http-api.ts';
import type { Surroundings } from '../terminal/surroundings.ts';
import { batchRequest } from './batch-request.ts';
import { readReport, runBatch, showProgress } from './follow-batch.ts';
import type { Suite } from './suite.ts';

/** The id of what ran without the service. */
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
export function createServiceRunner(
  api: HttpApi,
  { stderr, signal }: { stderr: Surroundings['stderr']; signal: AbortSignal },
): Runner {
  return {
    async run(suite, options) {
      const bar = stderr.isTTY && !options.json ? showProgress(stderr) : undefined;
      const body = { text: batchRequest(suite, options), type: 'application/json' };
      try {
        const batchId = await runBatch(api, body, { signal, onProgress: (progress) => bar?.show(progress) });
        return { suite, ...(await readReport(api, batchId)) };
      } finally {
        bar?.close();
      }
    },

    async itemText({ report }, n) {
      return (await api.call(`/rule-server/mock/batches/${report.batchId}/items/${n}`)).text;
    },
  };
}
