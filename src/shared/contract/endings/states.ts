import { z } from 'zod';
import { time } from '../wire.ts';

/** The states of an execution, in the order they can be reached; `picked-up` may be skipped, and one of the last five is the end. */
export const stateSchema = z.enum([
  'queued',
  'dispatched',
  'picked-up',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'rejected',
]);
export type State = z.infer<typeof stateSchema>;

const END_STATES: ReadonlySet<State> = new Set(['succeeded', 'failed', 'timed-out', 'cancelled', 'rejected']);

/** Whether nothing follows this state any more. */
export const isEndState = (state: State) => END_STATES.has(state);

/** A state and when it was reached. */
export const stepSchema = z.object({ state: stateSchema, at: time });
export type StateStep = z.infer<typeof stepSchema>;
