/** The result of a node. `NONE`: it has no opinion, and its parent goes by the others. */
export type State = 'TRUE' | 'FALSE' | 'NONE';

/** The reaction to an error: a state instead, or the end of the run. */
export type ErrorState = State | 'SHUT_DOWN';

const letters: Record<ErrorState, string> = { TRUE: 'T', FALSE: 'F', NONE: 'N', SHUT_DOWN: 'S' };

/** The letter a state has in the process text. */
export const letterOf = (state: ErrorState): string => letters[state];

/** TRUE and FALSE swapped; NONE is nobody's opposite. */
export function inverted(state: State): State {
  if (state === 'NONE') return state;
  return state === 'TRUE' ? 'FALSE' : 'TRUE';
}

const errorStates: readonly ErrorState[] = ['FALSE', 'TRUE', 'NONE', 'SHUT_DOWN'];

/** The state a node's `errorState` stands for, numbered as the Java SDK does; undefined for a number it does not know. */
export function errorStateOf(number: bigint): ErrorState | undefined {
  return number >= 0n && number < 4n ? errorStates[Number(number)] : undefined;
}
