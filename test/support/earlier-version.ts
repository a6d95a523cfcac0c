import { copyProgram, type ProgramCopy } from './program-copy.ts';

/** This program as version 0.2.0 was: jobs do not name the run of the queue store that took them. */
export const makeEarlierVersion = (): Promise<ProgramCopy> =>
  copyProgram({
    'api/calls/submit-execution.ts': [['storeRun: backend.run.last()', 'storeRun: undefined']],
    'worker/batches/run-target.ts': [
      [', storeRun: storeRun.last() };', ' };'],
      ["run: storeRun.last() ?? ''", "run: ''"],
    ],
  });
