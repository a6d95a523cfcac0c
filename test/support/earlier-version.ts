import { copyProgram, type Edit, type ProgramCopy } from './program-copy.ts';

/**
 * This program as an earlier version was: jobs say nothing beside their data, keys cannot be fenced and their notes have no time
 * to do it by, and workers do not announce that they take jobs.
 */
export const makeEarlierVersion = (): Promise<ProgramCopy> => copyProgram({ ...heads, ...fences, ...announcements });

const heads: Record<string, Edit[]> = {
  'shared/store/job-heads.ts': [[', head: JSON.stringify(head) };', ' };']],
  'api/executions/read-jobs.ts': [['if (job?.head) all', 'if (false) all']],
};

const fences: Record<string, Edit[]> = {
  'shared/contract/codes.ts': [["  fenced: { status: 503, state: 'rejected', retryAfterSeconds: 2 },\n", '']],
  'shared/contract/query.ts': [["z.literal('fence')", "z.literal('no such question')"]],
  'api/idempotency/idempotency.ts': [['at: Date.now(), claimBy };', 'at: Date.now() };']],
  'api/idempotency/run-once.ts': [
    ["if (claimBy === undefined || (await isKnown(kept.note))) return 'join';", "return 'join';"],
  ],
  'api/idempotency/close-notes.ts': [["(await fence(mockId, claimBy)) === 'fenced'", 'false']],
};

const announcements: Record<string, Edit[]> = {
  'worker/start.ts': [
    [
      'taking: () => backend.takers.tell(id), idle: () => backend.takers.withdraw(id)',
      'taking: async () => {}, idle: async () => {}',
    ],
  ],
  'shared/store/queue-openers.ts': [['id === undefined ? workerName', 'true ? workerName']],
  'shared/store/redis-backend.ts': [['id === undefined || counted.has(id)', 'true']],
};
