import type { ItemHead } from '../../shared/cases/batch.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import type { ItemEnding } from './item-ending.ts';
import type { Chosen, TargetRun } from './target-run.ts';

const UNANSWERED_IN_A_ROW = 3;

/** Whether the rest of the target, or of the batch, is better left alone. */
export async function judgeTarget(
  self: TargetRun,
  head: ItemHead,
  { ending, chosen }: { ending: ItemEnding; chosen: Chosen | null },
): Promise<void> {
  const { run, target, inARow } = self;
  const { stopAfterFailures } = run.batch;
  if (head.verdict !== 'passed' && head.verdict !== 'skipped') run.failures++;
  if (stopAfterFailures !== null && run.failures >= stopAfterFailures)
    run.stopped ??= `stopped after ${run.failures} cases that did not pass`;
  const who = head.address ?? chosen?.address ?? target;
  if (head.verdict === 'skipped') return;
  if (ending.kind === 'answered') {
    inARow.set(who, 0);
    return;
  }
  const count = (inARow.get(who) ?? 0) + 1;
  inARow.set(who, count);
  if (await clientDied(self, ending.noAnswer, who)) self.stopped ??= `stopped: client ${who} ended while it ran a case`;
  else if (count >= UNANSWERED_IN_A_ROW)
    self.stopped ??= `stopped after ${count} cases in a row without an answer from ${who}`;
}

/** A rule that ends its client's process would end the next one as well. */
async function clientDied(
  { clients, run }: TargetRun,
  { code, mayHaveRun, clientDied: saidSo = false }: NoAnswer,
  address: string,
): Promise<boolean> {
  if (saidSo) return true;
  if (!mayHaveRun || (code !== 'no-answer' && code !== 'client-left')) return false;
  const roster = await clients.roster(run.batch.app, { fresh: true }).catch(() => null);
  return roster !== null && !roster.clients.some((client) => client.address === address && client.online);
}
