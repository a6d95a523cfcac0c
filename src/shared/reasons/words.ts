import { whys } from './causes.ts';
import { advice, endings, isReason, type Ran, type Todo } from './endings.ts';
import { isProblemCode, type Problem, places, withPlace } from './problems.ts';
import { isRefusalCode, refusals } from './refusals.ts';
import { differences, skips, warnings } from './remarks.ts';
import { fillWithCauses, type Params } from './template.ts';

/** What is sent of an ending without an answer, or of a refusal: enough for its sentence in any language. */
type Reasoned = { reason: string; params: Params; mayHaveRun: boolean | null; errors?: readonly Problem[] | undefined };

/** The words of a language. */
export type ReasonWords = {
  reasons: Readonly<Record<string, string>>;
  ran: Readonly<Record<Exclude<Ran, 'either'>, string>>;
  advice: Readonly<Record<Todo, string>>;
  /** What parameters name. A cause may be called like a reason. */
  whys: Readonly<Record<string, string>>;
  places: typeof places;
  /** What is added where the shared directory had no room meanwhile. */
  meanwhile: string;
  /** The text of a reason that only a newer version knows. */
  unknown: string;
  /** Between sentences, between problems, and at the end of a sentence. */
  between: string;
  semicolon: string;
  end: string;
};

export const english: ReasonWords = {
  reasons: {
    ...whys,
    ...Object.fromEntries(Object.entries({ ...endings, ...refusals }).map(([reason, { text }]) => [reason, text])),
    ...{ ...warnings, ...skips, ...differences },
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
  places,
  meanwhile: 'Meanwhile {full}, so clients may be unable to answer.',
  unknown: 'It ended for the reason "{reason}", which only a newer version knows.',
  between: ' ',
  semicolon: '; ',
  end: '.',
};

/** What happened, without what follows from it. */
export function whatHappened({ reason, params }: Pick<Reasoned, 'reason' | 'params'>, words = english): string {
  const text = words.reasons[reason] ?? words.unknown;
  const sentence = fillWithCauses(text, { reason, ...params }, words.whys);
  return isProblemCode(reason) ? withPlace(sentence, { params, text }, words.places) : sentence;
}

/** A problem as a person reads it. */
export const messageOf = ({ code, params }: Pick<Problem, 'code' | 'params'>, words = english): string =>
  whatHappened({ reason: code, params }, words);

/** A problem as it is sent. */
export const withMessage = (problem: Problem) => ({ ...problem, message: messageOf(problem) });

/** Problems as one sentence. */
export function summaryOf(errors: readonly Problem[], words = english): string {
  const { end, semicolon } = words;
  const summary = errors.map((each) => `\`${each.field}\`: ${messageOf(each, words)}`).join(semicolon);
  return /[?？]$/.test(summary) ? summary : `${summary}${end}`;
}

/** One sentence for people: what happened, whether it ran, and what to do. */
export function sentenceOf(problem: Reasoned, words = english): string {
  const { reason, params, mayHaveRun, errors } = problem;
  const row = isReason(reason) ? endings[reason] : undefined;
  const told = errors === undefined ? params : { ...params, errors: summaryOf(errors, words) };
  const what = whatHappened({ reason, params: told }, words);
  const field = params.field === undefined ? what : `\`${params.field}\`: ${what}${words.end}`;
  const fill = (text: string) => fillWithCauses(text, params, words.whys);
  const todo = row === undefined || row.todo === null || mayHaveRun === null ? '' : fill(words.advice[row.todo]);
  const meanwhile = params.full === undefined ? '' : fill(words.meanwhile);
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
