import { type Conclusion, conclusionOf } from '../../shared/conclusions/conclusion.ts';
import { type JobData, jobVersion } from '../../shared/contract/job.ts';
import { random } from '../../shared/ports/random.ts';
import { time } from '../../shared/ports/time.ts';
import { addExecution } from '../../shared/queue/executions.ts';
import type { Side } from './earlier-runs.ts';
import { NOT_THE_CLIENT } from './judge-target.ts';
import { permit } from './permit.ts';
import type { TargetRun } from './target-run.ts';

/**
 * Runs the input of an earlier run again where that came from, as of the same time, to see whether it differs from itself. Always a dry run: no
 * effect is repeated for that. Null where those rules are not there any more, or where no client can run without effects.
 */
export async function runAgain(self: TargetRun, { target, digest, facts, ...one }: Side): Promise<Conclusion | null> {
  const { run, queue, followItems, storeRun, begunWithinMs } = self;
  const { app, ruleId, confId, keyName, batchId } = run.batch;
  const mockId = random.uuid();
  const chosen = run.gone.has(digest) ? null : await permit(self, { mockId, input: one.input, target, isDry: true });
  if (chosen === null) return null;
  run.open.add(mockId);
  try {
    const dry = { dryRun: { stub: '{}' } };
    const ids = { v: jobVersion(dry), app, ruleId, confId, target: chosen.target, keyName, batchId };
    const data: JobData = { ...one, ...ids, ...dry, claimBy: time.now() + begunWithinMs };
    const added = addExecution(queue, mockId, { ...data, replyTo: followItems.replyTo, storeRun: storeRun.last() });
    await added.catch(() => {}); // following adds it again
    const ending = await followItems.follow({ mockId, data }, run.signal);
    if (ending?.kind === 'answered' && ending.result.rules?.digest === digest)
      return conclusionOf({ input: one.input, body: ending.body, success: ending.result.success, facts });
    if (ending?.kind === 'answered' || (ending && !NOT_THE_CLIENT.includes(ending.noAnswer.code))) run.gone.add(digest);
    return null;
  } finally {
    run.open.delete(mockId);
    await run.permits.release(chosen.key, mockId);
  }
}
