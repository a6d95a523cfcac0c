import type { ItemHead } from '../../shared/cases/batch.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import { parseTarget } from '../../shared/contract/target.ts';
import { isBad } from '../../shared/contract/verdict.ts';
import { type SkipReason, skip } from '../../shared/reasons/remarks.ts';
import type { ItemEnding } from './follow-items.ts';
import type { Chosen, TargetRun } from './target-run.ts';

const UNANSWERED_IN_A_ROW = 3;
/** They tell of the service, nothing of the client: a batch outlives a time without workers. */
export const NOT_THE_CLIENT: readonly string[] = ['overloaded', 'stopping', 'outcome-unknown'];

/** Whether the rest of the target, or of the batch, is better left alone. */
export async function judgeTarget(
  self: TargetRun,
  head: ItemHead,
  { ending, chosen }: { ending: ItemEnding; chosen: Chosen | null },
): Promise<void> {
  const { run, target, inARow } = self;
  const { stopAfterFailures } = run.batch;
  if (isBad(head.verdict)) run.failures++;
  if (stopAfterFailures !== null && run.failures >= stopAfterFailures)
    run.stopped ??= skip('enough-failures', { failures: run.failures });
  const who = head.address ?? chosen?.address ?? target;
  if (head.verdict === 'skipped') return;
  if (ending.kind === 'answered') {
    inARow.set(who, 0);
    return;
  }
  if (NOT_THE_CLIENT.includes(ending.noAnswer.code)) return;
  const count = (inARow.get(who) ?? 0) + 1;
  inARow.set(who, count);
  if (await clientDied(self, ending.noAnswer, who)) await stop(self, skip('client-ended', { address: who }));
  else if (count >= UNANSWERED_IN_A_ROW && !(await othersTakeOver(self, ending.noAnswer, who)))
    await stop(self, skip('client-silent', { cases: count, address: who }));
}

/** Sends no more to the target, and takes back what no client has picked up. */
async function stop(self: TargetRun, why: SkipReason): Promise<void> {
  if (self.stopped !== null) return;
  self.stopped = why;
  // A message that is lost costs time only: the request is taken back at its deadline.
  for (const mockId of self.open) await self.cancels.send({ mockId, why: 'caller-left' }).catch(() => {});
}

/** Whether the next cases go to another client: one that let requests lie is asked last. */
async function othersTakeOver(
  { clients, resolveTarget, run, target }: TargetRun,
  { code }: NoAnswer,
  address: string,
): Promise<boolean> {
  const parsed = parseTarget(target);
  if (code !== 'not-picked-up' || parsed.kind === 'malformed') return false;
  await clients.roster(run.batch.app, { fresh: true }).catch(() => null); // what other workers noted
  const next = await resolveTarget(run.batch.app, parsed);
  return next.kind === 'client' && next.client.address !== address;
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
