import { whys } from './causes.ts';
import { advice, endings, isReason, type Ran, type Todo } from './endings.ts';
import { isRefusalCode, refusals } from './refusals.ts';
import { cellFaults, differences, leftOut, skips, warnings } from './remarks.ts';
import { fillWithCauses, type Params } from './template.ts';

/** What is sent of an ending without an answer, or of a refusal: enough for its sentence in any language. */
type Reasoned = { reason: string; params: Params; mayHaveRun: boolean | null };

/** The words of a language. */
export type ReasonWords = {
  reasons: Readonly<Record<string, string>>;
  ran: Readonly<Record<Exclude<Ran, 'either'>, string>>;
  advice: Readonly<Record<Todo, string>>;
  whys: Readonly<Record<string, string>>;
  /** What is added where the shared directory had no room meanwhile. */
  meanwhile: string;
  /** The text of a reason that only a newer version knows. */
  unknown: string;
  between: string;
};

export const english: ReasonWords = {
  reasons: {
    ...whys,
    ...Object.fromEntries(Object.entries({ ...endings, ...refusals }).map(([reason, { text }]) => [reason, text])),
    ...{ ...warnings, ...skips, ...leftOut, ...cellFaults, ...differences },
  },
  ran: {
    no: 'It did not run.',
    maybe: 'It may have run; look at the client before running it again.',
    yes: 'It ran.',
    earlier:
      'This call ran nothing; whether an earlier one under its Idempotency-Key ran was not looked up. Send it again with the same key: it runs at most once.',
  },
  advice,
  whys,
  meanwhile: 'Meanwhile {full}, so clients may be unable to answer.',
  unknown: 'It ended for the reason "{reason}", which only a newer version knows.',
  between: ' ',
};

/** What happened, without what follows from it. */
export function whatHappened({ reason, params }: Pick<Reasoned, 'reason' | 'params'>, words = english): string {
  return fillWithCauses(words.reasons[reason] ?? words.unknown, { reason, ...params }, words.whys);
}

/** One sentence for people: what happened, whether it ran, and what to do. */
export function sentenceOf(problem: Reasoned, words = english): string {
  const { reason, params, mayHaveRun } = problem;
  const row = isReason(reason) ? endings[reason] : undefined;
  const what = whatHappened(problem, words);
  const field = params.field === undefined ? what : `\`${params.field}\`: ${what}${words.between === '' ? '。' : '.'}`;
  const todo =
    row === undefined || row.todo === null || mayHaveRun === null
      ? ''
      : fillWithCauses(words.advice[row.todo], params, words.whys);
  const meanwhile = params.full === undefined ? '' : fillWithCauses(words.meanwhile, params, words.whys);
  const ran = mayHaveRun === null ? '' : words.ran[ranOf(reason, mayHaveRun)];
  return [field, ran, todo, meanwhile].filter((part) => part !== '').join(words.between);
}

/** Of a call that was refused as a request, only an earlier one under its key may have run; of a fault of the service nothing is known. */
function ranOf(reason: string, mayHaveRun: boolean): Exclude<Ran, 'either'> {
  const ran = isReason(reason) ? endings[reason].ran : 'either';
  if (ran !== 'either') return ran;
  if (!mayHaveRun) return 'no';
  return isRefusalCode(reason) && reason !== 'internal-error' ? 'earlier' : 'maybe';
}
