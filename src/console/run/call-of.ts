import { compactText } from '../../shared/json-tree/whole-text.ts';
import type { ExecuteCall, ExecutionRecord } from '../api/executions.ts';

/** The call that an execution came from. */
export function callOf(
  { app, ruleId, confId, ts, target, dryRun }: ExecutionRecord,
  input: string | null,
): ExecuteCall {
  const asked = { app: String(app), ruleId, confId, ts, target, input: compactText(input ?? '{}'), dryRun };
  return { ...asked, stub: {}, comparisonId: null, derivedFrom: null };
}
