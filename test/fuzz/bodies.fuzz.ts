import { cp } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withDeadline } from '../support/deadline.ts';
import { echoes } from '../support/echoes.ts';
import type { Answer, Call } from '../support/http-call.ts';
import { createResponder, type FoundRequest, type Responder } from '../support/responder.ts';
import { requestFileText } from './expected-answer.ts';
import { type ExpectedRequest, expectedRequest } from './expected-request.ts';
import { type Content, mutated } from './mutations.ts';
import { queryPath } from './query-path.ts';
import { escaped, readReference } from './reference.ts';
import { requestBody } from './request-body.ts';
import { type FuzzedService, serveCases } from './serve-cases.ts';
import { unsound } from './sound-answer.ts';
import { tryCases } from './try-cases.ts';

const EXECUTE = '/rule-server/mock/execute';
const LANES = 12;
/** Longer than anything here may take, on a machine that is busy with the other cases as well. */
const ENDS_WITHIN_MS = 40_000;

let service: FuzzedService;
const clients: Responder[] = [];
/** What came to clients and was not told to a caller yet. */
const files = new Map<string, FoundRequest>();

beforeAll(async () => {
  service = await serveCases({});
  await cp('test/fixtures/app-7', join(service.sharedDir, '7'), { recursive: true });
  const does = echoExactly;
  const { sharedDir } = service;
  clients.push(
    await createResponder({ sharedDir, app: 1, address: 'first', does }),
    await createResponder({ sharedDir, app: 1, address: 'second', lane: 'blue', does }),
    await createResponder({ sharedDir, app: 2, address: 'first', lane: 'blue', does }),
    await createResponder({ sharedDir, app: 88_005, does: echoes() }),
  );
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.stop()));
  await service.stop();
});

it('whatever body comes, its call ends as documented, and reaches a client only as it was written', () =>
  tryCases('bodies', fc.tuple(requestBody, sending), tryBody, { served: true, runs: 15_000, lanes: LANES }));

it('whatever is asked of an address, the answer is a documented one', () =>
  tryCases('queries', queryPath, tryQuery, { served: true, runs: 3000, lanes: LANES }));

it('whatever is sent as HTTP, it is answered or cut off', () =>
  tryCases('HTTP requests', mutated(fc.constant(WELL_FORMED)), tryHttp, { served: true, runs: 1500, lanes: LANES }));

it('no request came to a client that the caller was not told about', () => {
  const found = clients.flatMap((client) => client.found.map(({ mockId }) => mockId));
  expect(new Set(found).size).toBe(found.length);
  expect([...files.keys()]).toEqual([]);
});

const BODY = '{"app":88005,"ruleId":1}';
const WELL_FORMED = [
  `POST ${EXECUTE} HTTP/1.1`,
  'host: localhost',
  'content-type: application/json',
  `content-length: ${BODY.length}`,
  'connection: close',
  '',
  BODY,
].join('\r\n');

async function tryHttp({ bytes }: Content): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const received = text(socket);
  socket.end(bytes);
  const answers = await withDeadline(received, ENDS_WITHIN_MS, 'a connection');
  const statuses = [...answers.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));
  expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([]);
  if (answers !== '') expect(statuses.length).toBeGreaterThan(0);
  for (const secret of service.secrets) expect(answers).not.toContain(secret);
}

type Asked = { app: number; target: string };
const CLIENTS = ['all', 'lane:blue', 'address:first'];

type Sending = { headers: Record<string, string>; chunk: number };

const sending: fc.Arbitrary<Sending> = fc.record({
  headers: fc.oneof(
    { weight: 6, arbitrary: fc.constant({ 'content-type': 'application/json' }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { 'content-type': 'Application/JSON; charset=utf-8' },
        { 'content-type': 'application/json; charset=utf-16' },
        { 'content-type': 'text/plain' },
        { 'content-type': '' },
        {},
        { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        { origin: 'http://127.0.0.1', 'content-type': 'application/json' },
        { origin: 'http://elsewhere.example', 'content-type': 'text/plain' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-origin', 'content-type': 'multipart/form-data; boundary=application/json' },
        { prefer: 'wait=1', 'accept-language': 'xx' },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.uuid().map((key): Record<string, string> => ({ 'idempotency-key': key })),
    },
  ),
  /** 0: its length is announced. */
  chunk: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) }),
});

async function tryBody([{ bytes }, { headers, chunk }]: [Content, Sending]): Promise<void> {
  const body = chunk === 0 ? bytes : Readable.from(pieces(bytes, chunk));
  const answer = await ended(httpPost({ headers, body }));
  expect(unsound('execute', answer, service.secrets), answer.text).toEqual([]);
  const isFromBrowser = 'origin' in headers || 'sec-fetch-site' in headers;
  if (isFromBrowser && headers['content-type'] !== 'application/json') expect(answer.status).toBe(415);
  else if ('content-encoding' in headers) expect(answer.status).toBe(415);
  else if (bytes.length > service.settings.MAX_BODY_BYTES) expect(answer.status).toBe(413);
  else compare(expectedRequest(bytes), answer);
}

function httpPost(call: Call): Promise<Answer> {
  return service.call(EXECUTE, { method: 'POST', ...call });
}

function compare(expected: ExpectedRequest, answer: Answer): void {
  const { status, json, text: body } = answer;
  if (expected.kind === 'refused') {
    expect(status, body).toBe(400);
    expect(json.errors.length).toBeGreaterThan(0);
    return;
  }
  const mockId = String(json.mockId);
  const file = files.get(mockId);
  if (status !== 200) {
    isRefusedRightly(expected, answer);
    expect(file).toBeUndefined();
    return;
  }
  expect(file?.text.replace(/\d{13}\}$/, '')).toBe(requestFileText(expected, mockId));
  const echoed = escaped(expected.input);
  expect(body).toBe(
    `{"mockId":"${mockId}","success":true,"the service":${echoed},"executeAt":1.0,"process":null,"error":null}`,
  );
  files.delete(mockId);
}

/** Nobody is there: what was asked for was another app, or a client that is not. */
function isRefusedRightly({ app, target }: Asked, { status, json }: Answer): void {
  const hasClients = app === 1 || app === 2;
  expect(hasClients && CLIENTS.includes(target)).toBe(false);
  // An address nobody heard of is tried where nobody is registered, by whom is not known.
  if (status === 504) expect({ hasClients, code: json.code }).toEqual({ hasClients: false, code: 'not-picked-up' });
  else expect([status, json.mayHaveRun ?? false]).toEqual([status === 400 ? 400 : 503, false]);
}

/** The operations that are asked with a query, by their place. */
const OPERATIONS = new Map([
  ['schema', 'getSchema'],
  ['tree', 'getTree'],
  ['versions', 'listVersions'],
  ['apps', 'listApps'],
  ['rules', 'listRules'],
  ['clients', 'listClients'],
  ['executions', 'listExecutions'],
]);

async function tryQuery(path: string): Promise<void> {
  const answer = await ended(service.call(path));
  const place = /^\/rule-server\/mock\/(\w+)/.exec(path)?.[1] ?? '';
  expect(unsound(OPERATIONS.get(place) ?? place, answer, service.secrets), answer.text).toEqual([]);
}

function ended(answer: Promise<Answer>): Promise<Answer> {
  return withDeadline(answer, ENDS_WITHIN_MS, 'a call');
}

/** Answers with the input as it stands in the request file. */
async function echoExactly(request: FoundRequest): Promise<void> {
  await request.pickUp();
  files.set(request.mockId, request);
  const reading = readReference(Buffer.from(request.text));
  const data = reading.kind === 'good' ? reading.members.find(({ key }) => key === 'the service')?.raw : undefined;
  await request.answer(`{"mockId":"${request.mockId}","success":true,"the service":${data},"executeAt":1.0}`);
}

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
