import { createHash } from 'node:crypto';
import type { ItemDetail, ItemHead } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { type Judgement, judge } from '../../shared/cases/judge.ts';
import { withoutNoise } from '../../shared/cases/noise.ts';
import { joinMembers, parseExact, scanJson } from '../../shared/contract/exact-json.ts';
import { stringifyExact } from '../../shared/contract/raw-number.ts';
import type { ItemEnding } from './follow-items.ts';

const MAX_DATA = 16 * 1024;
const MAX_NODES = 16 * 1024;
const MAX_ERROR = 1000;

/** The record of an item that ended: its verdict, and the result of the run. */
export function itemOfEnding(
  one: Case,
  ending: ItemEnding,
  ignore: readonly string[],
): { head: ItemHead; detail: ItemDetail | null } {
  if (ending.kind === 'unanswered') {
    const { code, error, mayHaveRun, address, rules = null } = ending.noAnswer;
    const head = {
      ...nothing,
      verdict: code === 'cancelled' ? 'skipped' : 'unanswered',
      address,
      code,
      mayHaveRun,
      error: cut(error),
      rules,
      digest: digestOf([code]),
    } as const;
    return { head, detail: null };
  }
  const { result, body, tookMs } = ending;
  const { success, decision = null, address, rules = null } = result;
  const judged = judge(one.expect, { kind: 'answered', body, success, decision, tookMs }, ignore);
  const { verdict, outcome, error, differences } = judged;
  const detail = detailOf(one, judged);
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
  return { head: { ...nothing, ...ran, digest: digestOf([outcome, error, compared]) }, detail };
}

/** An item that is not run. */
export function skippedItem(reason: string): ItemHead {
  return { ...nothing, verdict: 'skipped', error: cut(reason) };
}

const nothing = {
  ...{ outcome: null, address: null, code: null, mayHaveRun: false, error: null, tookMs: null, differences: 0 },
  ...{ digest: null, rules: null, claimBy: null },
};

function detailOf(one: Case, judged: Judgement): ItemDetail {
  const data = changedMembers(one, judged);
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
