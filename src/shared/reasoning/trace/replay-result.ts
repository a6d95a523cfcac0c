import type { Result } from '../result.ts';
import type { Occurrence } from '../tree.ts';
import { readProcess } from './read-process.ts';
import { type Replay, replayProcess } from './replay.ts';
import { replaySteps } from './replay-steps.ts';

/** A parsed trace: its kind, the part of its text that is no entry, and what it says of each place. */
export type Traced = { trace: 'steps' | 'process' | 'empty' | 'none'; replay: Replay; rest: string };

const nothing: Replay = { nodeTraces: new Map(), unplaced: [] };

/** Lays the trace of a result on a tree; without a tree it has no places. */
export function replayResult(result: Result | null, occurrences: readonly Occurrence[]): Traced {
  if (result?.steps?.kind === 'array' && result.steps.items.length > 0)
    return { trace: 'steps', replay: replaySteps(occurrences, result.steps), rest: '' };
  if (result === null || result.process === null) return { trace: 'none', replay: nothing, rest: '' };
  const { entries, rest } = readProcess(result.process);
  if (entries.length === 0 && rest === '') return { trace: 'empty', replay: nothing, rest };
  return { trace: 'process', replay: replayProcess(occurrences, entries), rest };
}
