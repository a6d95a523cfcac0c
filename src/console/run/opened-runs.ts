import type { Tree } from '../api/browse.ts';
import type { Execution } from '../api/executions.ts';

/** A run that was opened from a file. `changed`: somebody changed the file after it was saved. */
type OpenedRun = { execution: Execution; tree: Tree | null; fileName: string; changed: boolean };

/** By their ids. The service may know other things of them, or nothing: what the file says is shown. */
const opened = new Map<string, OpenedRun>();

export const openedRun = (mockId: string | null): OpenedRun | null => opened.get(mockId ?? '') ?? null;

export function keepOpened(run: OpenedRun): void {
  opened.set(run.execution.record.mockId, run);
}
