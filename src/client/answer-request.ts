import { stringifyExact } from '../shared/contract/raw-number.ts';
import type { Heart } from './heart.ts';
import { type Places, resultPathOf } from './places.ts';
import { printAnswer, printRefusal } from './print-answer.ts';
import { putAnswer } from './put-answer.ts';
import type { RuleSource } from './rules/rule-source.ts';
import { type RunOptions, runRule } from './run-rule.ts';
import type { Taken } from './take-request.ts';

type Dependencies = RunOptions & { places: Places; rules: RuleSource; heart: Heart };

/** Runs a request that was taken and puts the answer in place, unless the thread had to answer for a blocked event loop. */
export async function answerRequest(
  taken: Exclude<Taken, { kind: 'left' }>,
  { places, rules, heart, ...running }: Dependencies,
): Promise<void> {
  const { mockId } = taken;
  const { onError, ruleTimeoutMs } = running;
  const resultPath = resultPathOf(places, mockId);
  const executeAt = Date.now();
  const put = (text: string) => putAnswer(resultPath, mockId, text, { forMs: ruleTimeoutMs, onError });
  if (taken.kind === 'unusable') {
    const error = `the request cannot be used: ${taken.reason}`;
    return put(printRefusal({ mockId, executeAt, error }));
  }
  const record = heart.began({
    ...{ mockId, resultPath, executeAt, input: stringifyExact(taken.request.data) },
    isDry: taken.request.stubs !== undefined,
  });
  try {
    // Somebody may have released a rule just now in order to try it.
    await rules.refresh().catch(onError);
    if (record.isClaimed()) return; // so slow a file system that the thread has said it did not end
    const current = rules.current();
    const { execution, ending } = await runRule(current, taken.request, running, { withSteps: true, watcher: record });
    const ranOn = { version: current.version, digest: current.digestOf(taken.request) };
    const text = printAnswer({ mockId, executeAt, rules: ranOn, execution, ending });
    if (record.claim()) await put(text);
    else
      onError(
        new Error(`the answer to ${mockId} came after ${Date.now() - executeAt} ms, too late: it had been given up`),
      );
  } finally {
    heart.ended(mockId);
  }
}
