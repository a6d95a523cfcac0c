import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { withDeadline } from '../support/deadline.ts';
import type { Answer } from '../support/http-call.ts';
import { createResponder, type FoundRequest, type Responder } from '../support/responder.ts';
import { type Deliver, type Delivery, deliveries, strangeDeliveries } from './deliveries.ts';
import { expectedAnswer, isText } from './expected-answer.ts';
import { content } from './mutations.ts';
import { numbersIn } from './reference.ts';
import { brokenResult, oddResult, withId } from './result-text.ts';
import { type FuzzedService, serveCases } from './serve-cases.ts';
import { unsound } from './sound-answer.ts';
import { tryCases } from './try-cases.ts';

const RESULT_BYTES = 64 * 1024;
const ENDS_WITHIN_MS = 120_000;
/** What a client can speak, by the app that speaks it. */
const dialects = { 1: 'the service', 2: 'roam' } as const;
type App = keyof typeof dialects;

type Plan = { bytes: Buffer; deliver: Deliver };

let service: FuzzedService;
const clients: Responder[] = [];
const plans = new Map<number, Plan>();
let calls = 0;

beforeAll(async () => {
  // 500 calls at once may be more than a busy machine begins in a few seconds: none is to be refused for load. A result that is
  // none is told when the time for one is over, and until then a busy client must have had its turn.
  const patient = { RESULT_TIMEOUT_MS: 30_000, QUEUE_TIMEOUT_MS: 200_000 };
  service = await serveCases({ MAX_RESULT_BYTES: RESULT_BYTES, ...patient });
  const { sharedDir } = service;
  clients.push(
    await createResponder({ sharedDir, app: 1, does: playPlan }),
    await createResponder({ sharedDir, app: 2, does: playPlan, as: 'python' }),
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.stop()));
  await service.stop();
});

const app = fc.constantFrom<App>(1, 2);
const deliveryOf = fc.constantFrom<Delivery>('renamed', 'in pieces', 'without picking up', 'after something else');
const strange = strangeDeliveries(RESULT_BYTES);
const large = fc
  .tuple(fc.integer({ min: 15_000, max: RESULT_BYTES - 200 }), fc.boolean())
  .map(([size, success]) => content(Buffer.from(`{"success":${success},"roam":{},"text":"${'é9'.repeat(size / 3)}"}`)));

it('a result that is one reaches its caller to the letter', () =>
  tryCases(
    'odd results',
    fc.record({
      app,
      result: fc.oneof({ weight: 30, arbitrary: oddResult }, { weight: 1, arbitrary: large }),
      delivery: deliveryOf,
    }),
    ({ app: at, result, delivery }) => tryResult(at, result.bytes, deliveries[delivery]),
    { served: true, runs: 4000, lanes: 120 },
  ));

it('a result that is none is told to be none', () =>
  tryCases(
    'broken results',
    fc.record({ app, result: brokenResult }),
    ({ app: at, result }) => tryResult(at, result.bytes, deliveries.renamed),
    { served: true, runs: 1000, lanes: 500 },
  ));

it('what is no file, or too large, is none', () =>
  tryCases(
    'what is no file',
    fc.record({ app, what: fc.constantFrom(...Object.values(strange)) }),
    async ({ app: at, what }) => {
      const answer = await execute(at, { bytes: Buffer.alloc(0), deliver: what });
      expect([answer.status, answer.json.code], answer.text).toEqual([502, 'invalid-result']);
    },
    { served: true, runs: 120, lanes: 120 },
  ));

it('nothing was asked twice', () => {
  const found = clients.flatMap((client) => client.found.map(({ mockId }) => mockId));
  expect(new Set(found).size).toBe(found.length);
  expect(plans.size).toBe(0);
});

async function tryResult(at: App, template: Buffer, deliver: Plan['deliver']): Promise<void> {
  const plan: Plan = { bytes: template, deliver };
  const answer = await execute(at, plan);
  const mockId = String(answer.json.mockId);
  const expected = expectedAnswer(withId(template, mockId), mockId, dialects[at]);
  if (expected === null) {
    expect([answer.status, answer.json.code], answer.text).toEqual([502, 'invalid-result']);
    return;
  }
  expect(answer.status, answer.text).toBe(200);
  expect(isText(answer.text, expected.text), `${answer.text} is not ${expected.text}`).toBe(true);
  expect(numbersIn(answer.text).length).toBeGreaterThan(0);
}

async function execute(at: App, plan: Plan): Promise<Answer> {
  const number = ++calls;
  plans.set(number, plan);
  const answer = await withDeadline(service.execute({ app: at, ruleId: number }), ENDS_WITHIN_MS, 'a call');
  plans.delete(number);
  expect(unsound('execute', answer, service.secrets), answer.text).toEqual([]);
  return answer;
}

async function playPlan(request: FoundRequest, client: Responder): Promise<void> {
  const number = /"(?:ruleId|iceId)":(\d+)/.exec(request.text)?.[1];
  const plan = plans.get(Number(number));
  // On a machine that is very busy the worker may have taken the request back: the call says so, and its property fails.
  const deliver = async () => plan?.deliver(request, withId(plan.bytes, request.mockId), client);
  await deliver().catch(unless('ENOENT'));
}
