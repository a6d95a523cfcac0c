import { timingsOf } from '../../shared/contract/endings/timings.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { printedRules } from '../../shared/contract/rules-of-run.ts';
import type { ShownExecution } from './read-execution.ts';
import type { Looked } from './search/search-executions.ts';

/** An execution without its texts, as JSON text. Ids are printed as the integers they are. */
export function recordBody(record: ExecutionRecord): string {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  const { mockId, app, ruleId, confId, ts, target, keyName, address, state, history } = record;
  const { warnings, outcome, decision, rules, lane, error, dryRun, comparisonId, derivedFrom } = record;
  return stringifyExact({
    mockId,
    app,
    ruleId: id(ruleId),
    confId: id(confId),
    ts: id(ts),
    target,
    keyName,
    address,
    lane,
    state,
    history,
    timings: timingsOf(record),
    warnings,
    outcome,
    decision,
    error,
    dryRun,
    comparisonId,
    derivedFrom,
    rules: printedRules(rules),
  });
}

/** How long an execution is kept, and the tree of the rules that it ran on, where that is asked for. */
type Kept = { pinned: boolean; keptUntil: number | null; tree: string | null | undefined };

/** A whole execution as JSON text. Inputs and results stay the text they are. */
export function executionBody(
  { record, input, result, lateResult, masked }: ShownExecution,
  { tree, ...kept }: Kept,
): string {
  const texts = { input, result, lateResult, ...(tree !== undefined && { tree }) };
  const rest = Object.entries(texts).map(([key, raw]) => `${JSON.stringify(key)}:${raw ?? 'null'}`);
  return `${recordBody(record).slice(0, -1)},${rest.join(',')},${JSON.stringify({ written: record.written, masked, ...kept }).slice(1)}`;
}

/** One page of executions as JSON text; with their inputs, as they were written, when those were asked for. */
export function listBody(
  records: ExecutionRecord[],
  { nextCursor, inputs, looked }: { nextCursor: string | null; inputs: (string | null)[] | null; looked?: Looked },
): string {
  const items = records.map((record, index) => {
    if (inputs === null) return recordBody(record);
    return `${recordBody(record).slice(0, -1)},"input":${inputs[index] ?? 'null'}}`;
  });
  return `{"items":[${items.join(',')}],${JSON.stringify({ nextCursor, looked }).slice(1)}`;
}
