import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuleCaller, ExactNumber, NotAnswered } from '../../src/client/http.ts';
import { losesAnAnswer } from '../support/loses-an-answer.ts';
import { answersWith, createResponder, resultText, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ settings: { RESULT_TIMEOUT_MS: 1500 } });
});
afterAll(() => service?.stop());

/** Answers with the input as it came, to the letter. */
const echoes = answersWith((request) => {
  const input = /"the service":(\{.*?\})/s.exec(request.text)?.[1] ?? '{}';
  return resultText(request, { outcome: 'TRUE' }).replace(/"the service":\{.*?\}/s, `"the service":${input}`);
});

test('numbers are exact in both directions, and the run is in the history', async () => {
  await using _ = await createResponder({ sharedDir: service.sharedDir, app: 51, does: echoes });
  const rules = createRuleCaller({ url: service.url });
  const data = { uid: 9007199254740993n, price: new ExactNumber('0.10000000000000000001'), n: 1, name: 'Ann' };
  const answer = await rules.execute({ app: 51, ruleId: 9223372036854775807n, data });
  expect(answer).toMatchObject({ success: true, outcome: 'TRUE', data });
  const [listed] = await allOf(rules.history({ app: 51 }));
  expect(listed).toMatchObject({ mockId: answer.mockId, ruleId: '9223372036854775807' });
  expect((await rules.execution(answer.mockId)).input).toContain('"uid":9007199254740993');
});

test('a call whose answer was lost is sent again, and runs once', async () => {
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 52, does: echoes });
  await using gateway = await losesAnAnswer(service.url);
  const answer = await createRuleCaller({ url: gateway.url }).execute({ app: 52, ruleId: 1, data: { uid: 7 } });
  expect(answer.data).toEqual({ uid: 7 });
  expect(gateway.calls()).toBe(2);
  expect(client.found).toHaveLength(1);
});

test('without a key a call whose answer was lost is not sent again', async () => {
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 53, does: echoes });
  await using gateway = await losesAnAnswer(service.url);
  const rules = createRuleCaller({ url: gateway.url });
  const call = rules.execute({ app: 53, ruleId: 1, idempotencyKey: null });
  await expect(call).rejects.toMatchObject({ status: 0, mayHaveRun: true });
  expect(client.found).toHaveLength(1);
});

test('what the service says of a call without an answer is told as it is', async () => {
  await using _ = await createResponder({ sharedDir: service.sharedDir, app: 54, does: staysSilent });
  const call = createRuleCaller({ url: service.url }).execute({ app: 54, ruleId: 1 });
  const error = await call.catch((why: unknown) => why);
  expect(error).toBeInstanceOf(NotAnswered);
  expect(error).toMatchObject({ status: 504, code: 'not-picked-up', mayHaveRun: false });
});

test('a batch runs to its end, and its items are read', async () => {
  await using _ = await createResponder({ sharedDir: service.sharedDir, app: 55, does: echoes });
  const rules = createRuleCaller({ url: service.url });
  const batch = await rules.batch({ app: 55, ruleId: 1, cases: [{ 'the service': { uid: 9007199254740993n } }] });
  expect(batch.state).toBe('finished');
  expect(await allOf(rules.batchItems(batch.batchId))).toMatchObject([{ n: 1, outcome: 'TRUE' }]);
});

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
