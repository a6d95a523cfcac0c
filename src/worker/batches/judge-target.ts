import type { ItemHead } from '../../shared/cases/batch.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import { parseTarget } from '../../shared/contract/target.ts';
import { isBad } from '../../shared/contract/verdict.ts';
import { type SkipReason, skip } from '../../shared/reasons/remarks.ts';
import type { ItemEnding } from './follow-items.ts';
import type { Chosen, TargetRun } from './target-run.ts';

const UNANSWERED_IN_A_ROW = 3;
/** Codes that are the service's fault, not the client's: they do not stop a batch. */
export const NOT_THE_CLIENT: readonly string[] = ['overloaded', 'stopping', 'outcome-unknown'];

/** Whether to skip the rest of the target, or of the batch. */
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
  // A lost message only costs time: the request is withdrawn at its deadline.
  for (const [mockId, targetIndex] of self.run.open)
    if (targetIndex === self.targetIndex) await self.cancels.send({ mockId, why: 'caller-left' }).catch(() => {});
}

/** Whether the next cases go to another client: one that let requests lie is asked last. */
async function othersTakeOver(
  { clients, resolveTarget, run, target }: TargetRun,
  { code }: NoAnswer,
  address: string,
): Promise<boolean> {
  const parsed = parseTarget(target);
  if (code !== 'not-picked-up' || parsed.kind === 'malformed') return false;
  await clients.roster(run.batch.app, { fresh: true }).catch(() => null); // includes what other workers have recorded
  const next = await resolveTarget(run.batch.app, parsed);
  return next.kind === 'client' && next.client.address !== address;
}

/** A rule that crashed its client would crash the next one as well. */
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
