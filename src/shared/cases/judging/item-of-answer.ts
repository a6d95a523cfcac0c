import { createHash } from 'node:crypto';
import type { Code } from '../../contract/endings/codes.ts';
import type { Decision } from '../../contract/job.ts';
import { joinMembers, parseExact, scanJson } from '../../contract/json/exact-json.ts';
import { stringifyExact } from '../../contract/json/raw-number.ts';
import type { RulesOfRun } from '../../contract/rules-of-run.ts';
import type { ItemDetail, ItemHead } from '../batch.ts';
import type { Case } from '../case.ts';
import { type Judgement, judge } from './judge.ts';
import { withoutNoise } from './noise.ts';

const MAX_DATA = 16 * 1024;
const MAX_NODES = 16 * 1024;
const MAX_ERROR = 1000;

/** An answer of a client. `tookMs`: from dispatch to answer. */
type Answered = {
  body: string;
  success: boolean;
  decision: Decision | null;
  address: string | null;
  rules: RulesOfRun | null;
  tookMs: number | null;
};

/** The record of an item whose client answered: its verdict, and the result of the run. */
export function itemOfAnswer(
  one: Case,
  { body, success, decision, address, rules, tookMs }: Answered,
  ignore: readonly string[],
): { head: ItemHead; detail: ItemDetail } {
  const judged = judge(one.expect, { kind: 'answered', body, success, decision, tookMs }, ignore);
  const { verdict, outcome, error, differences } = judged;
  const ran = {
    verdict,
    outcome,
    address,
    tookMs,
    mayHaveRun: true,
    error: cut(error),
    rules,
    differences: differences.length,
  };
  const changed = changedMembers(one, judged);
  const compared =
    changed === null || ignore.length === 0 ? changed : stringifyExact(withoutNoise(parseExact(changed), ignore));
  const head = { ...nothing, ...ran, digest: digestOf([outcome, error, compared]) };
  return { head, detail: detailOf(judged, changed) };
}

/** Why there is no answer, as an ending tells it. */
type NoAnswer = {
  code: Code;
  error: string;
  mayHaveRun: boolean;
  address: string | null;
  rules?: RulesOfRun | null | undefined;
};

/** The record of an item that has no answer. */
export function itemWithoutAnswer({ code, error, mayHaveRun, address, rules = null }: NoAnswer): ItemHead {
  const verdict = code === 'cancelled' ? 'skipped' : 'unanswered';
  return { ...nothing, verdict, address, code, mayHaveRun, error: cut(error), rules, digest: digestOf([code]) };
}

/** An item that is not run. `code`: of one that did not run because its batch was stopped from outside. */
export function skippedItem(reason: string, code: Code | null = null): ItemHead {
  return { ...nothing, verdict: 'skipped', code, error: cut(reason) };
}

const nothing = {
  ...{ outcome: null, address: null, code: null, mayHaveRun: false, error: null, tookMs: null, differences: 0 },
  ...{ digest: null, rules: null, claimBy: null },
};

function detailOf(judged: Judgement, data: string | null): ItemDetail {
  const nodes = judged.nodes !== null && JSON.stringify(judged.nodes).length > MAX_NODES ? null : judged.nodes;
  const isCut = data !== null && Buffer.byteLength(data) > MAX_DATA;
  return { differences: judged.differences, data: isCut ? null : data, cut: isCut || nodes !== judged.nodes, nodes };
}

/** The members the run added or changed, as JSON text. */
function changedMembers({ input }: Case, { data }: Judgement): string | null {
  const [before, after] = [scanJson(input), scanJson(data ?? '{}')];
  if (data === null || before.kind !== 'complete' || after.kind !== 'complete') return null;
  const known = new Map(before.members.map(({ key, raw }) => [key, raw]));
  return joinMembers(after.members.filter(({ key, raw }) => known.get(key) !== raw).map(({ key, raw }) => [key, raw]));
}

function digestOf(parts: (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
}

function cut(text: string | null): string | null {
  return text !== null && text.length > MAX_ERROR ? `${text.slice(0, MAX_ERROR)}…` : text;
}
