import { type ItemDetail, type ItemHead, itemHeadSchema } from '../cases/batch.ts';
import type { Case } from '../cases/case.ts';
import { errorOf, type NoAnswer } from '../contract/endings/no-answer.ts';
import { stringifyExact } from '../contract/json/raw-number.ts';
import type { RulesOfRun } from '../contract/rules-of-run.ts';
import type { Code } from '../reasons/codes.ts';
import type { SkipReason } from '../reasons/remarks.ts';
import { whatHappened } from '../reasons/words.ts';
import { type Conclusion, changedIn, conclusionOf, type NodeFacts, statesOf } from './conclusion.ts';
import { judge, judgeByRun } from './judge.ts';

const MAX_DATA = 16 * 1024;
const MAX_NODES = 16 * 1024;
const MAX_ERROR = 1000;

/** An answer of a client. `tookMs`: from dispatch to answer. */
type Answered = {
  body: string;
  success: boolean;
  address: string | null;
  rules: RulesOfRun | null;
  tookMs: number | null;
};

/**
 * `before`: what the run came to that it is compared with, null where that is not kept any more; absent where an expectation counts. `again`: what
 * that run came to when it was made again.
 */
type Against = { ignore: readonly string[]; before?: Conclusion | null; again?: Conclusion; facts?: NodeFacts };

/** The record of an item whose client answered: its verdict, and the result of the run. */
export function itemOfAnswer(
  { input, expect }: Case,
  { body, success, address, rules, tookMs }: Answered,
  { ignore, before, again, facts }: Against,
): { head: ItemHead; detail: ItemDetail } {
  const now = conclusionOf({ input, body, success, ...(facts && { facts }) });
  const judged =
    before === undefined ? judge(expect, now, { ignore, tookMs }) : judgeByRun(before, now, { ignore, again });
  const { verdict, differences, notChecked, parting } = judged;
  const changed = changedIn(now);
  const ran = { verdict, outcome: now.outcome, address, tookMs, mayHaveRun: true, error: cut(now.error), rules };
  const head = { ...nothing, ...ran, differences: differences.length, parting };
  const data = changed && stringifyExact(changed);
  const isCut = data !== null && Buffer.byteLength(data) > MAX_DATA;
  const states = statesOf(now);
  const nodes = states !== null && JSON.stringify(states).length > MAX_NODES ? null : states;
  const detail = { differences, notChecked, data: isCut ? null : data, cut: isCut || nodes !== states, nodes };
  return { head, detail };
}

/** The record of an item that has no answer. */
export function itemWithoutAnswer(noAnswer: NoAnswer): ItemHead {
  const { code, reason, params, mayHaveRun, address, rules = null } = noAnswer;
  const error = cut(errorOf(noAnswer));
  const verdict = code === 'cancelled' ? 'skipped' : 'unanswered';
  return { ...nothing, verdict, address, code, reason, params, mayHaveRun, error, rules };
}

/** An item that is not run. `code`: of one that did not run because its batch was stopped from outside. */
export function skippedItem(why: SkipReason, code: Code | null = null): ItemHead {
  return { ...nothing, ...why, verdict: 'skipped', code, error: cut(whatHappened(why)) };
}

const nothing = itemHeadSchema.parse({ verdict: 'pending' });

function cut(text: string | null): string | null {
  return text !== null && text.length > MAX_ERROR ? `${text.slice(0, MAX_ERROR)}…` : text;
}
