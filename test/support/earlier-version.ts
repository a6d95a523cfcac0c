import { copyProgram, type ProgramCopy } from './program-copy.ts';

/** This program as it was before jobs said anything beside their data. */
export const makeEarlierVersion = (): Promise<ProgramCopy> =>
  copyProgram({
    'shared/store/job-heads.ts': [[', head: JSON.stringify(head) };', ' };']],
    'api/executions/read-jobs.ts': [['if (job?.head) all', 'if (false) all']],
  });
