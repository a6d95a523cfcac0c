import { isOutside } from '../../shared/reasoning/time-window.ts';
import type { Tree } from '../api/browse.ts';
import { type ExecutionRecord, isEnd, type Waits } from '../api/executions.ts';
import { type Failure, noFailure, problemIn, serviceNow } from '../api/request.ts';
import type { TextKey } from '../text/en.ts';
import type { SayParameters } from '../text/use-text.tsx';
import type { Reading } from './reading.ts';

export type Words = { key: TextKey; parameters: SayParameters | undefined };

/** The state of a run in a sentence, and in another what can be done. `tone` is its colour. */
export type Headline = { title: Words; hint: Words | null; tone: 'calm' | 'busy' | 'good' | 'bad' | 'warn' };

/** A headline whose sentences have the same parameters. */
export function headlineOf(
  tone: Headline['tone'],
  title: TextKey,
  hint?: TextKey,
  parameters?: SayParameters,
): Headline {
  return { title: { key: title, parameters }, hint: hint === undefined ? null : { key: hint, parameters }, tone };
}

const stationOf = ({ state }: ExecutionRecord) => (state === 'picked-up' || state === 'dispatched' ? state : 'queued');

/** A run that is on its way. `lostSince`: the service is gone since then, and what was seen last is all that is known. */
export function openHeadline(
  record: ExecutionRecord,
  { client, stopping, lostSince }: { client: string; stopping: boolean; lostSince: string | null },
): Headline {
  const known = stationOf(record);
  if (lostSince !== null) return headlineOf('warn', 'state.lost', `state.lost.${known}`, { client, time: lostSince });
  return stopping
    ? headlineOf('busy', 'state.cancelling')
    : headlineOf('busy', `state.${known}`, undefined, { client });
}

/** The service does not know the run. `last`: what this page saw of it before; `inLink`: the address has its input. */
export function forgottenHeadline(
  last: ExecutionRecord | null,
  { client, inLink, hiddenApp }: { client: string; inLink: boolean; hiddenApp: { app: string; name: string } | null },
): Headline {
  if (hiddenApp !== null) return headlineOf('warn', 'state.mayNotSee', 'state.mayNotSee.hint', hiddenApp);
  if (last === null)
    return headlineOf('warn', 'state.unknown', inLink ? 'state.unknown.hint' : 'state.unknown.hint.noInput');
  return headlineOf('warn', `state.forgotten.${stationOf(last)}`, 'state.forgotten.hint', { client });
}

type Ending = NonNullable<ExecutionRecord['ending']>;
type About = { client: string; window: string; tree: Tree | null };

/** A run that has ended, by how it ended. */
export function endedHeadline(reading: Reading, about: About): Headline {
  const { record } = reading.execution;
  const { result } = reading;
  const { client } = about;
  const error = result?.error ?? '';
  if (reading.late) return headlineOf('warn', 'state.late');
  if (record.ending?.code != null) return unanswered(reading, record.ending);
  if (result !== null && !result.success)
    return headlineOf('bad', 'state.threw', error === '' ? 'state.threw.silent' : 'state.error', { client, error });
  const hasTrace = reading.trace !== 'none' && reading.trace !== 'empty';
  if (!hasTrace && isOutsideItsWindow(record, about.tree))
    return headlineOf('warn', 'state.emptyTrace', 'state.emptyTrace.hint', { window: about.window });
  if (reading.trace === 'empty') return headlineOf('warn', 'state.emptyTrace.unknown', 'state.emptyTrace.unknown.hint');
  if (reading.trace === 'none') return headlineOf('calm', 'state.done', 'state.noTrace', { client });
  return headlineOf('good', 'state.done', undefined, { client });
}

function isOutsideItsWindow(record: ExecutionRecord, tree: Tree | null): boolean {
  if (!tree?.rule || record.confId !== null) return false;
  return isOutside(tree.rule.timeWindow, BigInt(record.ts ?? record.history[0]?.at ?? serviceNow()));
}

/**
 * What the service says of a run without an answer: what happened, whether the rule ran, and what to do. The record of an app of which
 * nothing is kept has no reason; what its caller was answered has it.
 */
function unanswered({ execution, result }: Reading, ending: Ending): Headline {
  const { state } = execution.record;
  const tone = state === 'cancelled' ? 'calm' : state === 'rejected' ? 'warn' : 'bad';
  const { reason = null, params = {} } = ending.reason === null && result !== null ? problemIn(result.text) : ending;
  const error = { ...noFailure, reason, params, mayHaveRun: ending.mayHaveRun, error: result?.error ?? '' };
  if (error.error === '')
    return headlineOf(tone, 'state.outcome-unknown', ending.mayHaveRun ? undefined : 'state.error.notRun', { error });
  return headlineOf(tone, 'state.error', ending.code === 'no-answer' ? 'state.mayComeLate' : undefined, { error });
}

/** A call that was refused before it became a run: what the service says; where it gives no reason, as a gateway may, with a title. */
export function refusedHeadline(error: Failure, isSignedOut: boolean): Headline {
  if (isSignedOut) return headlineOf('warn', 'state.signed-out', 'state.signed-out.hint');
  if (error.reason !== null) return headlineOf('warn', 'state.error', undefined, { error });
  return error.mayHaveRun === true
    ? headlineOf('warn', 'state.outcome-unknown', 'state.error', { error })
    : headlineOf('warn', 'state.rejected', 'state.error.notRun', { error });
}

/** How long a run took, from the call to its end or to now. */
export function tookMs({ history, state }: ExecutionRecord, now: number): number {
  const first = history[0]?.at ?? now;
  return Math.max(0, (isEnd(state) ? (history.at(-1)?.at ?? now) : now) - first);
}

/** One stretch of a run's way and how long it took. `run`: the pick-up was too quick to be seen apart from the rule. */
export type Phase = { name: 'queue' | 'client' | 'rule' | 'run' | 'notice'; ms: number };

/** The stretches of a run, in order. While the run goes on, its last stretch ends at `now`. */
export function phasesOf(record: ExecutionRecord, now: number): Phase[] {
  return isEnd(record.state) ? endedPhases(record) : openPhases(record, now);
}

function endedPhases({ timings }: ExecutionRecord): Phase[] {
  const { queued, pickUp, running, noticing } = timings;
  const phases: { name: Phase['name']; ms: number | null }[] = [
    { name: 'queue', ms: queued },
    { name: 'client', ms: pickUp },
    { name: pickUp === null ? 'run' : 'rule', ms: running },
    { name: 'notice', ms: noticing },
  ];
  return phases.flatMap(({ name, ms }) => (ms === null ? [] : [{ name, ms }]));
}

function openPhases(record: ExecutionRecord, now: number): Phase[] {
  const at = (state: string) => reachedAt(record, state);
  const [queued = now, dispatched, pickedUp] = [at('queued'), at('dispatched'), at('picked-up')];
  const lasted = (from: number, to: number) => Math.max(0, to - from);
  const phases: Phase[] = [{ name: 'queue', ms: lasted(queued, dispatched ?? now) }];
  if (dispatched !== undefined) phases.push({ name: 'client', ms: lasted(dispatched, pickedUp ?? now) });
  if (pickedUp !== undefined) phases.push({ name: 'rule', ms: lasted(pickedUp, now) });
  return phases;
}

/** When a run reached a state, epoch ms. */
export function reachedAt({ history }: ExecutionRecord, state: string): number | undefined {
  return history.find((step) => step.state === state)?.at;
}

/** The stretch of time in which a run has its answer, or is told to have none: epoch ms by the service's clock. */
export function deadlineOf(record: ExecutionRecord, waits: Waits): { from: number; at: number } {
  const queued = reachedAt(record, 'queued') ?? 0;
  const dispatched = reachedAt(record, 'dispatched');
  if (dispatched === undefined) return { from: queued, at: queued + waits.worker };
  return { from: dispatched, at: dispatched + waits.client };
}
