import { copyProgram, type Edit, type ProgramCopy } from './program-copy.ts';

/**
 * This program as its next version could be: jobs, results and claims have renamed fields and new numbers, and it reads
 * those of today.
 */
export const makeNextVersion = (): Promise<ProgramCopy> => copyProgram(changes);

/** In jobs `input` is called `payload`, and there is a field more; in results `body` is called `answer`. */
const forms = `
export const jobDataSchema = z.preprocess((data) => (data?.v === 3 ? { ...data, input: data.payload } : data), jobDataOfToday);
export const jobResultSchema = z.preprocess((result) => (result?.v === 3 ? { ...result, body: result.answer } : result), jobResultOfToday);
export const writtenData = ({ input, ...rest }) => ({ ...rest, payload: input, tenant: 'ours' });
export const writtenResult = ({ body, ...rest }) => (rest.v === 3 ? { ...rest, answer: body } : { ...rest, body });
`;

const changes: Record<string, Edit[]> = Object.fromEntries<Edit[]>([
  [
    'shared/contract/job.ts',
    [
      ['JOB_VERSION = 2;', 'JOB_VERSION = 3;'],
      ['REAL_RUN_VERSION = 1;', 'REAL_RUN_VERSION = 3;'],
      ['export const jobDataSchema =', 'const jobDataOfToday ='],
      ['jobDataSchema.omit', 'jobDataOfToday.omit'],
      ['jobDataSchema.pick', 'jobDataOfToday.pick'],
      ['export const jobResultSchema =', 'const jobResultOfToday ='],
      ['export type JobResult =', `${forms}export type JobResult =`],
    ],
  ],
  [
    'shared/store/queue/job-heads.ts',
    [
      ['import type { JobData }', 'import { type JobData, writtenData }'],
      ["queue.add('execute', data,", "queue.add('execute', writtenData(data),"],
    ],
  ],
  [
    'worker/execution/process-job.ts',
    [
      ['jobDataSchema }', 'jobDataSchema, writtenResult }'],
      [
        'return { ...outcome.ending.result, v: parsed.data.v };',
        'return writtenResult({ ...outcome.ending.result, v: parsed.data.v });',
      ],
    ],
  ],
  [
    'worker/files/claims/claim.ts',
    [
      ['CLAIM_VERSION = 1;', 'CLAIM_VERSION = 2;'],
      ['const claimSchema =', 'const claimOfToday ='],
      [
        'export type Claim =',
        `const claimSchema = z.preprocess((claim) => (claim?.v === 2 ? { ...claim, temporary: claim.file } : claim), claimOfToday);
const written = ({ temporary, ...rest }) => ({ ...rest, file: temporary });
export type Claim =`,
      ],
      ["decision.kind === 'claimed' ? decision.claim :", "decision.kind === 'claimed' ? written(decision.claim) :"],
    ],
  ],
  ['shared/contract/query.ts', [['QUERY_VERSION = 1;', 'QUERY_VERSION = 2;']]],
]);
