import { z } from 'zod';
import { time } from '../wire.ts';
import { states } from './state-names.ts';

/** The states of an execution. `picked-up` may be skipped; an end state is the last. */
export const stateSchema = z.enum(states);
export type State = z.infer<typeof stateSchema>;

const END_STATES: ReadonlySet<State> = new Set(['succeeded', 'failed', 'timed-out', 'cancelled', 'rejected']);

/** Whether nothing follows this state any more. */
export const isEndState = (state: State) => END_STATES.has(state);

/** A state and when it was reached. */
export const stepSchema = z.object({ state: stateSchema, at: time });
export type StateStep = z.infer<typeof stepSchema>;
