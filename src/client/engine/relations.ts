import type { Relation } from './node.ts';
import type { State } from './state.ts';

type Verdict = Relation['verdict'];

const falseFirst: Verdict = (seenTrue, seenFalse) => (seenFalse ? 'FALSE' : seenTrue ? 'TRUE' : 'NONE');
const trueFirst: Verdict = (seenTrue, seenFalse) => (seenTrue ? 'TRUE' : seenFalse ? 'FALSE' : 'NONE');

const both = (name: string, stopsAt: State | null, verdict: Verdict): [Relation, Relation] => [
  { name, parallel: false, stopsAt, verdict },
  { name: `P-${name}`, parallel: true, stopsAt, verdict },
];

const [none, parallelNone] = both('None', null, () => 'NONE');
const [and, parallelAnd] = both('And', 'FALSE', falseFirst);
const [always, parallelAlways] = both('True', null, () => 'TRUE');
// As in the Java and Go SDKs: one TRUE is enough for ALL, it only makes sure that every child ran.
const [all, parallelAll] = both('All', null, trueFirst);
const [any, parallelAny] = both('Any', 'TRUE', trueFirst);

/** The relations by the number in a node's file; 5, 6 and 7 are leaves. */
export const relations: ReadonlyMap<bigint, Relation> = new Map([
  [0n, none],
  [1n, and],
  [2n, always],
  [3n, all],
  [4n, any],
  [8n, parallelNone],
  [9n, parallelAnd],
  [10n, parallelAlways],
  [11n, parallelAll],
  [12n, parallelAny],
]);

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
