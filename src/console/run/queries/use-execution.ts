import { useEffect, useMemo, useState } from 'react';
import type { Tree } from '../../api/browse.ts';
import { type Execution, getExecution } from '../../api/executions.ts';
import { type FollowedExecution, followExecution } from '../../api/follow-execution.ts';

const MAX_KEPT = 40;
const LATE_EVERY_MS = 3000;
const LATE_FOR_MS = 10 * 60_000;

/** Ended executions do not change any more: going back and forth between them asks for nothing. */
const ended = new Map<string, Execution>();

/** A run that was opened from a file. `changed`: somebody changed the file after it was saved. */
type OpenedRun = { execution: Execution; tree: Tree | null; fileName: string; changed: boolean };

/** By their ids. The service may know other things of them, or nothing: what the file says is shown. */
const opened = new Map<string, OpenedRun>();

export const openedRun = (mockId: string | null): OpenedRun | null => opened.get(mockId ?? '') ?? null;

export function keepOpened(run: OpenedRun): void {
  opened.set(run.execution.record.mockId, run);
}

function keep(execution: Execution): void {
  const { mockId } = execution.record;
  ended.delete(mockId);
  ended.set(mockId, execution);
  for (const oldest of ended.keys()) {
    if (ended.size <= MAX_KEPT) break;
    ended.delete(oldest);
  }
}

/** An execution as it is now. One that this page knows whole is not asked for. */
export async function fetchRun(mockId: string, signal: AbortSignal): Promise<Execution> {
  const known = openedRun(mockId)?.execution ?? ended.get(mockId);
  if (known) return known;
  const execution = await getExecution(mockId, signal);
  if (execution.record.ending !== null) keep(execution);
  return execution;
}

/** Notes the pin at a run that this page remembers: whoever opens the run again sees it. */
export function keepPinned(mockId: string, pinned: boolean): void {
  const known = ended.get(mockId);
  if (known) ended.set(mockId, { ...known, pinned });
}

/** One execution as it goes on, from its first state to its texts. Null while nothing is known of it. */
export function useExecution(mockId: string | null): FollowedExecution | null {
  const [seen, setSeen] = useState<{ mockId: string; followed: FollowedExecution } | null>(null);
  const fromFile = openedRun(mockId)?.execution ?? null;
  const shown = useMemo((): FollowedExecution | null => fromFile && { kind: 'ended', execution: fromFile }, [fromFile]);
  useEffect(() => {
    if (mockId === null || shown !== null) return;
    const known = ended.get(mockId);
    if (known) {
      setSeen({ mockId, followed: { kind: 'ended', execution: known } });
      return lateResultOf(known, (late) => setSeen({ mockId, followed: { kind: 'ended', execution: late } }));
    }
    let stopWaiting = () => {};
    const stop = followExecution(mockId, (followed) => {
      setSeen({ mockId, followed });
      if (followed.kind !== 'ended') return;
      keep(followed.execution);
      stopWaiting = lateResultOf(followed.execution, (late) =>
        setSeen({ mockId, followed: { kind: 'ended', execution: late } }),
      );
    });
    return () => {
      stop();
      stopWaiting();
    };
  }, [mockId, shown]);
  return shown ?? (seen?.mockId === mockId ? seen.followed : null);
}

/** Asks now and then whether the client answered after all. Returns how to stop asking. */
function lateResultOf(execution: Execution, report: (late: Execution) => void): () => void {
  const { record } = execution;
  if (record.state !== 'timed-out' || record.ending?.mayHaveRun !== true || execution.lateResult !== null)
    return () => {};
  const since = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - since > LATE_FOR_MS) return clearInterval(timer);
    getExecution(record.mockId).then(
      (now) => {
        if (now.lateResult === null) return;
        clearInterval(timer);
        keep(now);
        report(now);
      },
      () => {}, // asked again
    );
  }, LATE_EVERY_MS);
  return () => clearInterval(timer);
}
