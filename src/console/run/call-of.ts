import { compactText } from '../../shared/json-tree/whole-text.ts';
import type { ExecuteCall, ExecutionRecord } from '../api/executions.ts';

/** The call that an execution came from. */
export function callOf({ app, ruleId, confId, ts, target }: ExecutionRecord, input: string | null): ExecuteCall {
  return { app, ruleId, confId, ts, target, input: compactText(input ?? '{}'), comparisonId: null, derivedFrom: null };
}
