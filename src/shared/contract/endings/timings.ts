import type { ExecutionRecord } from '../execution-record.ts';
import { isEndState, type State } from './states.ts';

/** How long each part of an execution took, in ms; null for a part that has not ended, or was not seen. */
type Timings = {
  /** In the queue, until its request could be seen by the client. */
  queued: number | null;
  /** Until the client took the request. Null also when the client answered too quickly to tell. */
  pickUp: number | null;
  /** Until the client wrote its answer; since the dispatch where the pick-up was not seen. */
  running: number | null;
  /** Until the answer was noticed, read and reported. */
  noticing: number | null;
  total: number | null;
};

/** Reads the timings of an execution off its history. */
export function timingsOf({ history, answeredAt }: Pick<ExecutionRecord, 'history' | 'answeredAt'>): Timings {
  const at = (state: State) => history.find((step) => step.state === state)?.at;
  const [queued, dispatched, pickedUp] = [at('queued'), at('dispatched'), at('picked-up')];
  const ended = history.find(({ state }) => isEndState(state))?.at;
  const answered = answeredAt ?? undefined;
  return {
    queued: between(queued, dispatched ?? ended),
    pickUp:
      dispatched === undefined ? null : between(dispatched, pickedUp ?? (answered === undefined ? ended : undefined)),
    running: between(pickedUp ?? (answered === undefined ? undefined : dispatched), answered ?? ended),
    noticing: between(answered, ended),
    total: between(queued, ended),
  };
}

/** Machines' clocks differ a little; no part takes less than no time. */
function between(from: number | undefined, to: number | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.max(0, to - from);
}
