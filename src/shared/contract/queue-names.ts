/**
 * Queue names. `queries` answers quick questions about clients and rules; `control` carries messages to every worker and
 * no jobs, so that workers need not read all results.
 */
export const queueNames = {
  executions: 'executions',
  queries: 'queries',
  control: 'control',
  batches: 'batches',
} as const;
