import type { State } from './state.ts';

/** The result of a relation by the states of its children so far. */
type Verdict = (seenTrue: boolean, seenFalse: boolean) => State;

const falseFirst: Verdict = (seenTrue, seenFalse) => (seenFalse ? 'FALSE' : seenTrue ? 'TRUE' : 'NONE');
const trueFirst: Verdict = (seenTrue, seenFalse) => (seenTrue ? 'TRUE' : seenFalse ? 'FALSE' : 'NONE');

/** `stopsAt`: a child's state that ends it early. */
const both = (name: string, stopsAt: State | null, verdict: Verdict) => [
  { name, parallel: false, stopsAt, verdict },
  { name: `P-${name}`, parallel: true, stopsAt, verdict },
];
/** The logic of a relation. */
export type Relation = ReturnType<typeof both>[number];
const all = [
  ...both('None', null, () => 'NONE'),
  ...both('And', 'FALSE', falseFirst),
  ...both('True', null, () => 'TRUE'),
  // As in the Java and Go SDKs: one TRUE is enough for ALL, it only makes sure that every child ran.
  ...both('All', null, trueFirst),
  ...both('Any', 'TRUE', trueFirst),
];

/** The relations by the names of their types. */
export const relations: ReadonlyMap<string, Relation> = new Map(all.map((relation) => [relation.name, relation]));

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
