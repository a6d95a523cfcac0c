import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import type { ExecutionRequest } from '../engine/run.ts';
import type { Heart } from '../heart.ts';
import { type Places, resultPathOf } from '../places.ts';
import { printAnswer, printPublished } from '../print-answer.ts';
import { digestOf } from '../rules/digest.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { RuleSource } from '../rules/rule-source.ts';
import { type RunOptions, runRule } from '../runs/run-rule.ts';
import { printFailed, putAnswer } from './put-answer.ts';
import type { Taken } from './take-request.ts';

type AnswerRequestDependencies = RunOptions & { places: Places; rules: RuleSource; heart: Heart };

/** Runs a request that was taken and puts the answer in place, unless the thread had to answer for a blocked event loop. */
export async function answerRequest(
  taken: Exclude<Taken, { kind: 'left' }>,
  { places, rules, heart, ...running }: AnswerRequestDependencies,
): Promise<void> {
  const { mockId } = taken;
  const { onError, ruleTimeoutMs } = running;
  const resultPath = resultPathOf(places, mockId);
  const executeAt = Date.now();
  const put = (text: string) => putAnswer(resultPath, mockId, text, { forMs: ruleTimeoutMs, onError });
  if (taken.kind === 'unusable') {
    const error = `the request cannot be used: ${taken.reason}`;
    return put(printFailed({ mockId, executeAt, error }));
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
    const request = withRuleOf(current, taken.request);
    const withSteps = taken.names === 'interface';
    const { execution, ending } = await runRule(current, request, running, { withSteps, watcher: record });
    const ranOn = { version: current.version, digest: digestOf(current.released, request) };
    const print = withSteps ? printAnswer : printPublished;
    const text = print({ mockId, executeAt, rules: ranOn, execution, ending });
    if (record.claim()) await put(text);
    else
      onError(
        new Error(`the answer to ${mockId} came after ${Date.now() - executeAt} ms, too late: it had been given up`),
      );
  } finally {
    heart.ended(mockId);
  }
}

/** A request that names a scene and neither a rule nor a node runs the first rule of the scene, by id. */
function withRuleOf(rules: RuleSet, request: ExecutionRequest): ExecutionRequest {
  const { ruleId, confId, scene } = request;
  if (ruleId !== null || confId !== null || scene === undefined) return request;
  return { ...request, ruleId: rules.inScene(scene)[0] ?? null };
}
