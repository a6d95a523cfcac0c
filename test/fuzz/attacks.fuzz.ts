import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { openEventStream } from '../support/event-stream.ts';
import { httpCall } from '../support/http-call.ts';
import { createResponder, type FoundRequest, type Responder, staysSilent } from '../support/responder.ts';
import { type FuzzedService, serveCases } from './serve-cases.ts';
import { tryCases } from './try-cases.ts';

const MIB = 1024 * 1024;
const EXECUTE = '/rule-server/mock/execute';
const EXECUTIONS = '/rule-server/mock/executions';
const [ECHO, SILENT, HOSTILE] = [1, 2, 3];
/** A refusal names 20 fields at most: three times a path of 200 characters, each of which may be escaped as six, and its reason. */
const LARGEST_REFUSAL = 20 * (3 * 200 * 6 + 500);
const LONGEST_PATH = 200;
const LANES = 4;
const OPEN = 20;
/** On a machine that is busy with the attack as well. */
const ANSWERED_WITHIN_MS = 10_000;

let service: FuzzedService;
/** What the hostile client of each lane answers next. */
const hostileResults: string[] = [];
const clients: Responder[] = [];
const openIds: string[] = [];

beforeAll(async () => {
  service = await serveCases({ MAX_BODY_BYTES: 2 * MIB, RESULT_TIMEOUT_MS: 500_000 });
  const { sharedDir } = service;
  const hostile = (lane: number) => async (request: FoundRequest) => {
    await request.pickUp();
    const result = hostileResults[lane] ?? '{}';
    await request.answer(result.replace('{', `{"mockId":"${request.mockId}","success":true,"executeAt":1,`));
  };
  clients.push(
    await createResponder({ sharedDir, app: ECHO, does: echoes() }),
    await createResponder({ sharedDir, app: SILENT, does: staysSilent }),
  );
  for (let lane = 0; lane < LANES; lane++)
    clients.push(await createResponder({ sharedDir, app: HOSTILE + lane, does: hostile(lane) }));
  const data = { note: 'x'.repeat(100_000) };
  for (let begun = 0; begun < OPEN; begun++) {
    const { json } = await service.execute(
      { app: SILENT, ruleId: 1, 'the service': data },
      { headers: { prefer: 'respond-async' } },
    );
    openIds.push(json.mockId);
  }
}, 60_000);
afterAll(async () => {
  await Promise.all(openIds.map((mockId) => service.call(`${EXECUTIONS}/${mockId}`, { method: 'DELETE' })));
  await Promise.all(clients.map((client) => client.stop()));
  await service.stop();
});

const post = (body: string) =>
  service.call(EXECUTE, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

/** A key as long as a whole request, or short; of characters that grow when they are escaped. */
const key = fc
  .tuple(fc.constantFrom('k', '\\n', 'é', '😀', '.', '[0]', '\\u0000', ' '), fc.integer({ min: 1, max: 120_000 }))
  .map(([unit, length]) => unit.repeat(Math.max(1, Math.floor(length / unit.length))));
/** The same members again and again, below keys that are large. */
const duplicates = fc
  .tuple(fc.array(key, { minLength: 1, maxLength: 3 }), key, fc.integer({ min: 1, max: 60 }))
  .map(([way, name, times]) => {
    const members = Array.from({ length: times }, () => `"${name.slice(0, 2000)}":1`).join(',');
    return way.reduce((inside, step) => `{"${step}":${inside}}`, `{${members}}`);
  });

it('huge keys and keys that are given twice make no huge answer', () =>
  tryCases(
    'huge and duplicate keys',
    duplicates,
    async (data) => {
      const { status, bytes, json } = await post(`{"app":${ECHO},"ruleId":1,"the service":${data}}`);
      expect([200, 400, 413]).toContain(status);
      if (status === 200) return;
      expect(bytes.length).toBeLessThan(LARGEST_REFUSAL);
      for (const { field } of json.errors ?? []) expect(field.length).toBeLessThanOrEqual(LONGEST_PATH);
    },
    { served: true, runs: 120, lanes: LANES },
  ));

it('the same in a result makes no huge refusal, in the answer or in the history', () =>
  tryCases(
    'results with huge keys',
    duplicates,
    async (data, lane) => {
      hostileResults[lane] = `{"the service":${data},"process":null,"error":null}`;
      const { status, bytes, json } = await post(`{"app":${HOSTILE + lane},"ruleId":1}`);
      expect([200, 502]).toContain(status);
      if (status === 200) return;
      expect(bytes.length).toBeLessThan(LARGEST_REFUSAL);
      const kept = await service.call(`${EXECUTIONS}/${json.mockId}`);
      expect(kept.bytes.length).toBeLessThan(LARGEST_REFUSAL);
    },
    { served: true, runs: 40, lanes: LANES },
  ));

/** What many callers ask of the executions that are open at the same time. */
const crowd = fc.array(
  fc.oneof(
    fc.record({ ask: fc.constant('list'), limit: fc.integer({ min: 1, max: 100 }), input: fc.boolean() }),
    fc.record({ ask: fc.constant('one'), of: fc.nat(OPEN - 1) }),
    fc.record({ ask: fc.constant('follow'), of: fc.nat(OPEN - 1) }),
  ),
  { minLength: 5, maxLength: 60 },
);
type Wish = { ask: string; limit?: number; input?: boolean; of?: number };

async function fulfil({ ask, limit = 1, input = false, of = 0 }: Wish): Promise<void> {
  const one = `${service.url}${EXECUTIONS}/${openIds[of]}`;
  if (ask === 'follow') {
    const stream = await openEventStream(`${one}/events`);
    expect(stream.status).toBe(200);
    await expect.poll(() => stream.events.length, { timeout: ANSWERED_WITHIN_MS }).toBeGreaterThan(0);
    return stream.close();
  }
  const list = `${service.url}${EXECUTIONS}?limit=${limit}${input ? '&include=input' : ''}`;
  const { status, bytes } = await httpCall(ask === 'one' ? one : list);
  expect(status).toBe(200);
  if (ask === 'list') expect(bytes.length).toBeLessThan(limit * 5000 + 200); // no input of an open one
}

it('lists and followers under load: each is answered, and so is whoever runs a rule meanwhile', () =>
  tryCases(
    'crowds of readers',
    crowd,
    async (wishes) => {
      const readers = Promise.all(wishes.map(fulfil));
      const { status, json } = await service.execute({
        app: ECHO,
        ruleId: 1,
        'the service': { number: wishes.length },
      });
      expect([status, json['the service']]).toEqual([200, { number: wishes.length }]);
      expect((await service.call('/readyz')).status).toBe(200);
      await readers;
    },
    { served: true, runs: 40 },
  ));
