import type { Params } from '../../reasons/template.ts';
import { printPath, type Step } from '../path.ts';

/** Something in a document or request that cannot be used: where, and what to do about it. */
export type Refusal = {
  path: string;
  line: number | null;
  message: string;
  /** Of CSV: what is wrong, without the row and the column; and where it is worded in several languages its reason. */
  cell?: { text: string; reason?: string | undefined; params?: Params | undefined } | undefined;
};

/** The line a path is written in; null when that is not known. */
export type LineOf = (path: string) => number | null;

const MAX_REFUSALS = 100;

/** A place in what is read. */
export type Place = {
  in: (step: Step) => Place;
  /** The line that it is written in. */
  line: () => number | null;
  refuse: (message: string) => undefined;
};

/** Collects refusals, the first hundred of them. */
export function createRefusals(lineOf: LineOf = () => null) {
  const all: Refusal[] = [];
  let found = 0;
  const put = (refusal: () => Refusal) => {
    found++;
    if (all.length < MAX_REFUSALS) all.push(refusal());
  };
  const at = (...path: readonly Step[]): Place => {
    const line = () => lineOf(printPath(path));
    return {
      in: (step) => at(...path, step),
      line,
      refuse: (message) => void put(() => ({ path: printPath(path) || 'document', line: line(), message })),
    };
  };
  return {
    all,
    /** How many there are, those beyond the first hundred too. */
    found: () => found,
    put: (refusal: Refusal) => put(() => refusal),
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

/** A refusal in the form of a problem of a call. */
export function problemOf({ path, line, message }: Refusal): { field: string; message: string } {
  return { field: path, message: line === null ? message : `${message} (line ${line})` };
}

/** Refusals as sentences, with the file and line an editor can open. */
export function refusalLines(file: string, refusals: readonly Refusal[]): string {
  return refusals
    .map(({ path, line, message }) => `${file}${line === null ? '' : `:${line}`}: ${path} ${message}`)
    .join('\n');
}

/** The cases of a batch that are left out because of a mistake in them, and the first hundred mistakes. */
export type SetAside = { cases: number; refusals: readonly Refusal[] };

/** As the interface shows it. */
export const setAsideBody = ({ cases, refusals }: SetAside) => ({ cases, errors: refusals.map(problemOf) });

export const noneSetAside: SetAside = { cases: 0, refusals: [] };
