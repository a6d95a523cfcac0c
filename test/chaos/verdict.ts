import { readFileSync } from 'node:fs';

/**
 * One line of a story. `at`: epoch ms, written by the story. `honest`: the codes with which a call may end here beside its answer; without
 * them, a refusal for a fault or for load is honest.
 */
export type Entry = { at?: number } & (
  | { kind: 'experiment'; what: string; seed: number; honest?: readonly string[] }
  | { kind: 'fault'; fault: string; phase: 'begins' | 'ends'; forgets: boolean }
  | { kind: 'called'; number: number }
  | {
      kind: 'answered';
      number: number;
      ms: number;
      /** 0: its connection broke. */
      status: number;
      /** The number in the answer's data; null without one. */
      own: number | null;
      code: string | null;
      mayHaveRun: boolean | null;
      mockId: string | null;
      error: string | null;
      /** Its Idempotency-Key may have been forgotten while it was repeated. */
      uncertain: boolean;
    }
  | { kind: 'found'; mockId: string; number: number }
  | { kind: 'ran'; number: number }
  | { kind: 'wrote'; number: number }
);
type Of<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>;

export type Verdict = {
  what: string;
  seed: number;
  calls: number;
  answered: number;
  refused: number;
  /** Of those, calls that may have run. */
  unsure: number;
  cutOff: number;
  /** The longest wait for a refusal. */
  refusedMs: number;
  /** Calls with neither their own answer nor an honest refusal. */
  lost: Of<'answered'>[];
  /** Requests that the client found more than once. */
  foundTwice: string[];
  /** Calls under a key that no store had forgotten, and that ran more than once. */
  ranTwice: number[];
  /** Calls that were said not to have run, and ran. */
  ranThough: Of<'answered'>[];
  /** Calls that never ended. */
  open: number[];
};

const isAnswered = ({ status, own, number }: Of<'answered'>) => status === 200 && own === number;
/** 503, which did not run; 504 that says that nobody knows; or one of the codes that the experiment names. */
const honestIn =
  (codes: readonly string[] | undefined) =>
  ({ status, mayHaveRun, code }: Of<'answered'>) =>
    codes?.includes(code ?? '') ??
    ((status === 503 && mayHaveRun === false) || (status === 504 && code === 'outcome-unknown'));

/** The entries of a story, from its file. */
export function readStory(path: string): Entry[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** Which promises a story kept. Nothing but its entries decides. */
export function verdictOf(story: readonly Entry[]): Verdict {
  const of = <Kind extends Entry['kind']>(kind: Kind) => story.filter((one): one is Of<Kind> => one.kind === kind);
  const [experiment] = of('experiment');
  const isHonest = honestIn(experiment?.honest);
  const ended = of('answered');
  const attached = ended.filter(({ status }) => status !== 0);
  const refused = attached.filter((call) => !isAnswered(call) && isHonest(call));
  const ran = countOf(of('ran').map(({ number }) => number));
  const uncertain = new Set(ended.filter((call) => call.uncertain).map(({ number }) => number));
  const endedNumbers = new Set(ended.map(({ number }) => number));
  return {
    what: experiment?.what ?? '',
    seed: experiment?.seed ?? 0,
    calls: attached.length,
    answered: attached.filter(isAnswered).length,
    refused: refused.length,
    unsure: refused.filter(({ mayHaveRun }) => mayHaveRun !== false).length,
    cutOff: ended.length - attached.length,
    refusedMs: Math.max(0, ...refused.map(({ ms }) => ms)),
    lost: attached.filter((call) => !isAnswered(call) && !isHonest(call)),
    foundTwice: [...countOf(of('found').map(({ mockId }) => mockId))]
      .filter(([, times]) => times > 1)
      .map(([id]) => id),
    ranTwice: [...ran].filter(([number, times]) => times > 1 && !uncertain.has(number)).map(([number]) => number),
    ranThough: refused.filter(({ mayHaveRun, number }) => mayHaveRun === false && ran.has(number)),
    open: of('called')
      .map(({ number }) => number)
      .filter((number) => !endedNumbers.has(number)),
  };
}

/** The promises that a verdict breaks, each in a line; none when all were kept. */
export function brokenIn({ lost, foundTwice, ranTwice, ranThough, open }: Verdict): string[] {
  return [
    ...lost.map(
      ({ number, ms, status, code, error }) => `call ${number} was lost: ${status} ${code} after ${ms} ms: ${error}`,
    ),
    ...foundTwice.map((mockId) => `request ${mockId} was found twice`),
    ...ranTwice.map((number) => `call ${number} ran more than once`),
    ...ranThough.map(({ number, error }) => `call ${number} ran, and its caller was told: ${error}`),
    ...open.map((number) => `call ${number} never ended`),
  ];
}

/** From the first begin of a fault to the last end of one, epoch ms. */
function spanOf(story: readonly Entry[]): { beganAt: number; endedAt: number } {
  const beganAt = story.find((one) => one.kind === 'fault' && one.phase === 'begins')?.at ?? 0;
  return { beganAt, endedAt: story.findLast((one) => one.kind === 'fault' && one.phase === 'ends')?.at ?? beganAt };
}

/** From the end of the fault to the first answer of a call that was made after its begin, in ms. */
export function againAfter(story: readonly Entry[]): number {
  const { beganAt, endedAt } = spanOf(story);
  const ends = story.flatMap((one) => (one.kind === 'answered' && isAnswered(one) ? [one] : []));
  const since = ends.filter(({ at = 0, ms }) => at - ms >= beganAt && at >= endedAt);
  return Math.max(0, Math.min(...since.map(({ at = 0 }) => at)) - endedAt);
}

/**
 * The longest that an open call waited for its answer beyond the client's time and the fault's, in ms. Open is a call that was made before
 * the fault was over and answered after it began. `over`: when that counts as over; `on-and-off`: any moment may be within a fault.
 */
export function longestTakeover(story: readonly Entry[], over: 'at-its-begin' | 'at-its-end' | 'on-and-off'): number {
  const { beganAt, endedAt } = spanOf(story);
  const overAt = over === 'at-its-begin' ? beganAt : endedAt;
  const atOf = (kind: 'called' | 'wrote') =>
    new Map(story.flatMap((one) => (one.kind === kind ? [[one.number, one.at ?? 0] as const] : [])));
  const [calledAt, wroteAt] = [atOf('called'), atOf('wrote')];
  const waits = story.flatMap((one) => {
    if (one.kind !== 'answered' || !isAnswered(one)) return [];
    const [from, to] = [calledAt.get(one.number) ?? 0, one.at ?? 0];
    const sinceOver = over === 'on-and-off' ? 0 : overAt;
    return from < overAt && to >= beganAt ? [to - Math.max(sinceOver, wroteAt.get(one.number) ?? from)] : [];
  });
  return Math.max(0, ...waits);
}

function countOf<T>(items: T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
