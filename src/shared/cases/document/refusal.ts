import {
  type Problem,
  type ProblemCode,
  type ProblemFault,
  problemAt,
  problemOfFault,
  type problems,
  problemText,
} from '../../reasons/problems.ts';
import type { ParamsOf } from '../../reasons/template.ts';
import { printPath, type Step } from '../path.ts';

/** The line a path is written in; null when that is not known. */
export type LineOf = (path: string) => number | null;

const MAX_REFUSALS = 100;

/** A place in what is read. */
export type Place = {
  in: (step: Step) => Place;
  /** The line that it is written in. */
  line: () => number | null;
  refuse: <Of extends ProblemCode>(code: Of, params: ParamsOf<(typeof problems)[Of]>) => undefined;
  refuseFault: (fault: ProblemFault) => undefined;
};

/** Collects problems, the first hundred of them. */
export function createRefusals(lineOf: LineOf = () => null) {
  const all: Problem[] = [];
  let found = 0;
  const put = (problem: () => Problem) => {
    found++;
    if (all.length < MAX_REFUSALS) all.push(problem());
  };
  const at = (...path: readonly Step[]): Place => {
    const line = () => lineOf(printPath(path));
    const placed = ({ params, ...problem }: Problem) => {
      const known = line();
      return { ...problem, params: known === null ? params : { ...params, line: known } };
    };
    const field = () => printPath(path) || 'document';
    return {
      in: (step) => at(...path, step),
      line,
      refuse: (code, params) => void put(() => placed(problemAt(field(), code, params))),
      refuseFault: (fault) => void put(() => placed(problemOfFault(field(), fault))),
    };
  };
  return {
    all,
    /** How many there are, those beyond the first hundred too. */
    found: () => found,
    put: (problem: Problem) => put(() => problem),
    at,
    /** What was read, or nothing where something in it is refused. */
    accepted<T>(read: () => T): T[] {
      const before = found;
      const one = read();
      return found === before ? [one] : [];
    },
  };
}
export type Refusals = ReturnType<typeof createRefusals>;

/** Problems as sentences, with the file and line an editor can open. */
export function refusalLines(file: string, refusals: readonly Problem[]): string {
  return refusals
    .map(({ field, code, params: { line, ...params } }) => {
      const place = line === undefined ? file : `${file}:${line}`;
      return `${place}: ${field} ${problemText({ code, params })}`;
    })
    .join('\n');
}

/** The cases of a batch that are left out because of a mistake in them, and the first hundred mistakes. */
export type SetAside = { cases: number; errors: readonly Problem[] };

export const noneSetAside: SetAside = { cases: 0, errors: [] };
