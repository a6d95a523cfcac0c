import { JOB_VERSION, type JobData } from '../../src/shared/contract/job.ts';

/** The data of a plain job, which a worker may begin within a minute. */
export const plainJob = (): JobData => ({
  v: JOB_VERSION,
  app: 1,
  ruleId: '1',
  confId: null,
  ts: null,
  target: 'all',
  input: '{}',
  claimBy: Date.now() + 60_000,
  keyName: null,
});
