import type { Relation } from './node.ts';
import type { State } from './state.ts';

export type Tally = ReturnType<typeof createTally>;

/** The results of a relation's children so far. */
export function createTally({ stopsAt, verdict }: Relation) {
  let seenTrue = false;
  let seenFalse = false;
  return {
    /** Counts one child in; true when it settles the matter for all of them. */
    add(state: State): boolean {
      if (state === 'TRUE') seenTrue = true;
      else if (state === 'FALSE') seenFalse = true;
      return state === stopsAt;
    },
    verdict: (): State => verdict(seenTrue, seenFalse),
  };
}
