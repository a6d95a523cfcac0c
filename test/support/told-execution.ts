import { type Execution, executionSchema } from '../../src/shared/contract/execution.ts';
import { printAs } from '../../src/shared/contract/wire.ts';

/** An execution with these members, as GET executions answers it. Ids, inputs and results are text. */
export function toldExecution(members: Partial<Execution>): string {
  const none = { ruleId: '1', confId: null, ts: null, keyName: null, address: null, lane: null, ending: null };
  return printAs(executionSchema, {
    ...{
      mockId: 'm',
      app: 1,
      target: 'all',
      state: 'succeeded',
      history: [],
      warnings: [],
      outcome: null,
      rules: null,
    },
    ...{
      error: null,
      dryRun: false,
      comparisonId: null,
      derivedFrom: null,
      input: '{}',
      result: null,
      lateResult: null,
    },
    ...{ written: null, masked: [], pinned: false, keptUntil: null },
    timings: { queued: null, pickUp: null, running: null, noticing: null, total: null },
    ...none,
    ...members,
  });
}
