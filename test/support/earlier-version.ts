import { copyProgram, type Edit, type ProgramCopy } from './program-copy.ts';

/**
 * This program as version 0.2.0 was: jobs do not name the run of the queue store that took them, and neither jobs, claims, results nor
 * records say anything of rules, of a lane, of a client's error, of a comparison, of `debug` or of a dry run.
 */
export const makeEarlierVersion = (): Promise<ProgramCopy> => copyProgram(changes);

const gone = 'rules: undefined, lane: undefined, error: undefined, comparisonId: undefined, derivedFrom: undefined';

const changes: Record<string, Edit[]> = {
  'api/calls/submit-execution.ts': [['storeRun: backend.run.last()', 'storeRun: undefined']],
  'worker/batches/run-target.ts': [
    [', storeRun: storeRun.last() };', ' };'],
    ["run: storeRun.last() ?? ''", "run: ''"],
  ],
  'shared/contract/job.ts': [
    ['JOB_VERSION = 2;', 'JOB_VERSION = 1;'],
    ['  dryRun: z.object({ stub: z.string() }).optional(),\n', ''],
    ['  debug: z.int().optional(),\n', ''],
    ['  comparisonId: z.string().optional(),\n  derivedFrom: z.string().optional(),\n', ''],
    ['    ...(request.debug !== null && { debug: request.debug }),\n', ''],
    ['    ...(request.comparisonId !== null && { comparisonId: request.comparisonId }),\n', ''],
    ['    ...(request.derivedFrom !== null && { derivedFrom: request.derivedFrom }),\n', ''],
    ['  rules: rulesOfRunSchema.optional(),\n', ''],
    ['  lane: z.string().optional(),\n', ''],
    ['  error: z.string().optional(),\n', ''],
  ],
  'shared/cases/batch.ts': [['BATCH_VERSION = 2;', 'BATCH_VERSION = 1;']],
  'shared/contract/endings/outcomes.ts': [
    ['  rules: rulesOfRunSchema.optional(),\n', ''],
    ['  lane: z.string().optional(),\n', ''],
  ],
  'shared/store/history/redis-history.ts': [
    ['parseJson(text));', `{ ...parseJson(text), ${gone} });`],
    ['const text = JSON.stringify(record);', `const text = JSON.stringify({ ...record, ${gone} });`],
    [', ...(rules && { rules }) });', ' });'],
  ],
  'worker/files/claims/claim.ts': [
    ['  rules: rulesOfRunSchema.optional(),\n', ''],
    [
      "decision.kind === 'claimed' ? decision.claim :",
      "decision.kind === 'claimed' ? { ...decision.claim, rules: undefined } :",
    ],
  ],
  'worker/execution/finish.ts': [
    ['return privacy.isOff(app) || rules === undefined ? {} : { rules };', 'return {};'],
    ['return lane === null ? {} : { lane };', 'return {};'],
    ['...(error !== null && !privacy.isOff(claim.app) && { error: beginningOf(hide(error)) }),', ''],
  ],
  'worker/rules/kept-trees.ts': [['if (digest === null || privacy.isOff(asked.app)) return;', 'return;']],
};
