/**
 * Queue names. `queries` answers quick questions about clients and rules; `control` carries messages to every worker and
 * no jobs, so that workers need not read all results. `openCalls` carries what APIs tell each other of their keys.
 */
export const queueNames = {
  executions: 'executions',
  queries: 'queries',
  control: 'control',
  openCalls: 'open-calls',
  batches: 'batches',
} as const;
