import {
  executionListSchema,
  executionRecordSchema,
  executionSchema,
  type SearchProgress,
} from '../../shared/contract/execution.ts';
import { type ExecutionRecord, shownError, timingsOf } from '../../shared/contract/execution-record.ts';
import { printAs } from '../../shared/contract/wire.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import type { ShownExecution } from './read-execution.ts';

const bodyOf = (record: ExecutionRecord) => ({
  ...record,
  error: shownError(record),
  timings: timingsOf(record),
});

/** An execution without its texts, as JSON text. */
export const recordBody = (record: ExecutionRecord): string => printAs(executionRecordSchema, bodyOf(record));

/** How long an execution is kept, and the tree of the rules that it ran on, where that is asked for. */
type Kept = { pinned: boolean; keptUntil: number | null; tree: string | null | undefined };

/** A whole execution as JSON text. Inputs and results stay the text they are. */
export function executionBody({ record, ...texts }: ShownExecution, kept: Kept): string {
  return printAs(executionSchema, { ...bodyOf(record), ...texts, ...kept });
}

/** The input of each execution of a list, and the node that decided it; null where the caller did not ask for them. */
type Details = { inputs: (string | null)[] | null; nodes: (NamedNode | null)[] | null };

/** One page of executions as JSON text; with their inputs as they were written, and the nodes that decided. */
export function listBody(
  records: ExecutionRecord[],
  { nextCursor, inputs, nodes, searched }: Details & { nextCursor: string | null; searched?: SearchProgress },
): string {
  const items = records.map((record, index) => ({
    ...bodyOf(record),
    input: inputs === null ? undefined : (inputs[index] ?? null),
    decidedBy: nodes === null ? undefined : (nodes[index] ?? null),
  }));
  return printAs(executionListSchema, { items, nextCursor, searched });
}
