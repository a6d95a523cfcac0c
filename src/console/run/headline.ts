import { isOutside } from '../../shared/reasoning/time-window.ts';
import type { Tree } from '../api/browse.ts';
import { type ExecutionRecord, isEnd, type Waits } from '../api/executions.ts';
import { type Failure, noFailure, serviceNow } from '../api/request.ts';
import type { TextKey } from '../text/en.ts';
import type { SayParameters } from '../text/use-text.tsx';
import type { Reading } from './reading.ts';

export type Words = { key: TextKey; parameters?: SayParameters };

/** The state of a run in a sentence, and in another what can be done. `tone` is its colour. */
export type Headline = { title: Words; hint: Words | null; tone: 'calm' | 'busy' | 'good' | 'bad' | 'warn' };

/** A run that is on its way. */
export function openHeadline(
  record: ExecutionRecord,
  { client, stopping, lostSince }: { client: string; stopping: boolean; lostSince: string | null },
): Headline {
  if (lostSince !== null) return lostHeadline(record, { client, time: lostSince });
  if (stopping) return { title: { key: 'state.cancelling' }, hint: null, tone: 'busy' };
  const { state } = record;
  if (state === 'dispatched' || state === 'picked-up') {
    return { title: { key: `state.${state}`, parameters: { client } }, hint: null, tone: 'busy' };
  }
  return { title: { key: 'state.queued' }, hint: null, tone: 'busy' };
}

/** The service is gone: what was seen last is all that is known. */
function lostHeadline({ state }: ExecutionRecord, parameters: { client: string; time: string }): Headline {
  const known = state === 'picked-up' || state === 'dispatched' ? state : 'queued';
  return {
    title: { key: 'state.lost', parameters },
    hint: { key: `state.lost.${known}`, parameters },
    tone: 'warn',
  };
}

/** The service does not know the run. `last`: what this page saw of it before; `inLink`: the address has its input. */
export function forgottenHeadline(
  last: ExecutionRecord | null,
  { client, inLink, hiddenApp }: { client: string; inLink: boolean; hiddenApp: { app: string; name: string } | null },
): Headline {
  if (hiddenApp !== null)
    return {
      title: { key: 'state.mayNotSee', parameters: hiddenApp },
      hint: { key: 'state.mayNotSee.hint' },
      tone: 'warn',
    };
  if (last === null) {
    const hint: Words = { key: inLink ? 'state.unknown.hint' : 'state.unknown.hint.noInput' };
    return { title: { key: 'state.unknown' }, hint, tone: 'warn' };
  }
  const known = last.state === 'picked-up' || last.state === 'dispatched' ? last.state : 'queued';
  return {
    title: { key: `state.forgotten.${known}`, parameters: { client } },
    hint: { key: 'state.forgotten.hint' },
    tone: 'warn',
  };
}

type About = { client: string; window: string; tree: Tree | null };

/** A run that has ended, by how it ended. */
export function endedHeadline(reading: Reading, about: About): Headline {
  const { record } = reading.execution;
  const { result } = reading;
  const { client } = about;
  const error = result?.error ?? '';
  if (reading.late)
    return {
      title: { key: 'state.late' },
      hint: null,
      tone: 'warn',
    };
  if (record.ending !== null) return unanswered(record, { ...noFailure, ...record.ending, error });
  if (result !== null && !result.success) {
    const hint: Words = error === '' ? { key: 'state.threw.silent' } : { key: 'state.error', parameters: { error } };
    return { title: { key: 'state.threw', parameters: { client } }, hint, tone: 'bad' };
  }
  const done: Words = { key: 'state.done', parameters: { client } };
  if (reading.trace === 'empty' || (reading.trace === 'none' && isOutsideItsWindow(record, about.tree)))
    return nothingRan(record, about);
  if (reading.trace === 'none') return { title: done, hint: { key: 'state.noTrace' }, tone: 'calm' };
  return { title: done, hint: null, tone: 'good' };
}

function nothingRan(record: ExecutionRecord, { tree, window }: About): Headline {
  if (isOutsideItsWindow(record, tree)) {
    return {
      title: { key: 'state.emptyTrace' },
      hint: { key: 'state.emptyTrace.hint', parameters: { window } },
      tone: 'warn',
    };
  }
  return { title: { key: 'state.emptyTrace.unknown' }, hint: { key: 'state.emptyTrace.unknown.hint' }, tone: 'warn' };
}

function isOutsideItsWindow(record: ExecutionRecord, tree: Tree | null): boolean {
  if (!tree?.rule || record.confId !== null) return false;
  return isOutside(tree.rule.timeWindow, BigInt(record.ts ?? record.history[0]?.at ?? serviceNow()));
}

/** The reason of an ending has its own sentence, which says whether the rule ran and what to do. */
function unanswered({ state, ending }: ExecutionRecord, error: Failure): Headline {
  const tone = state === 'cancelled' ? 'calm' : state === 'rejected' ? 'warn' : 'bad';
  const told = toldBy(error, tone);
  return told.hint === null && ending?.code === 'no-answer' ? { ...told, hint: { key: 'state.mayComeLate' } } : told;
}

/** What the service says; where it gives no reason, as a gateway or a newer service may, with a title. */
function toldBy(error: Failure, tone: Headline['tone']): Headline {
  const words = (key: 'state.error' | 'state.error.notRun'): Words => ({ key, parameters: { error } });
  if (error.reason !== null) return { title: words('state.error'), hint: null, tone };
  return error.mayHaveRun === true
    ? { title: { key: 'state.outcome-unknown' }, hint: words('state.error'), tone }
    : { title: { key: 'state.rejected' }, hint: words('state.error.notRun'), tone };
}

/** A call that was refused before it became a run. */
export function refusedHeadline(failure: Failure, isSignedOut: boolean): Headline {
  if (!isSignedOut) return toldBy(failure, 'warn');
  return { title: { key: 'state.signed-out' }, hint: { key: 'state.signed-out.hint' }, tone: 'warn' };
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
