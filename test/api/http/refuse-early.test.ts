import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createRequestMetrics } from '../../../src/api/api-metrics.ts';
import type { Environment } from '../../../src/api/http/environment.ts';
import { refuseEarly, serveHttp } from '../../../src/api/http/server/http-server.ts';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import type { Audit } from '../../../src/shared/runtime/access/audit.ts';
import { createKeyring } from '../../../src/shared/runtime/access/keyring.ts';
import { createMetrics, type Metrics } from '../../../src/shared/runtime/telemetry/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { type Call, httpCall } from '../../support/http-call.ts';
import { captureLog, quickSettings } from '../../support/start-service.ts';

const run = promisify(execFile);
const EXECUTE = '/rule-server/mock/execute';
const KEY = 'a-key-of-the-test-0123456789';
const SMALL = '{"app":1,"ruleId":1}';
const LARGE = Buffer.alloc(5 * 1024 * 1024, 'x');
const hasCurl = isThere('curl');

describe('a plain call that comes while too many do', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  beforeEach(() => api.refuseAll());
  afterAll(() => api.stop());

  it('is refused before the app sees it: it did not run, and may be sent again after the wait', async () => {
    const answer = await api.execute();
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '7',
      'cache-control': 'no-store',
    });
    expect(answer.json).toMatchObject({ success: false, code: 'overloaded', mayHaveRun: false });
    expect(answer.json.mockId).toMatch(/^[\da-f-]{36}$/);
    expect(api.seen).toEqual([]);
  });

  it('keeps its connection, and the next call on it is read from its start', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const connections = api.connections();
    const atTheLimit = 'x'.repeat(64 * 1024);
    for (const body of [SMALL, atTheLimit, SMALL]) {
      const { status, headers } = await api.execute({ agent, body });
      expect([status, headers.connection]).toEqual([503, 'keep-alive']);
    }
    api.refuseNone();
    expect(await api.execute({ agent })).toMatchObject({ status: 200, text: SMALL });
    expect(api.connections()).toBe(connections + 1);
  });

  describe('with a body of 5 MB gets the whole answer, and its connection is closed', () => {
    it('with fetch', async () => {
      const answer = await fetch(`${api.url}${EXECUTE}`, { method: 'POST', body: LARGE });
      expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
      expect(await answer.json()).toMatchObject({ code: 'overloaded', mayHaveRun: false });
    });

    it('with node:http, whether it says how long the body is or not', async () => {
      for (const more of [{ 'content-length': String(LARGE.length) }, undefined]) {
        const body = Readable.from([LARGE]);
        const { status, headers, json } = await api.execute({ body, ...(more && { headers: more }) });
        expect([status, headers.connection]).toEqual([503, 'close']);
        expect(json).toMatchObject({ code: 'overloaded', mayHaveRun: false });
      }
    });

    it.skipIf(!hasCurl)('with curl, whether it asks first or not', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'rule-server-'));
      await writeFile(join(directory, 'body'), LARGE);
      const url = `${api.url}${EXECUTE}`;
      for (const more of [[], ['-H', 'expect:'], ['-H', 'transfer-encoding: chunked']]) {
        const options = ['-sS', '-w', '\n%{http_code}', '--data-binary', `@${join(directory, 'body')}`];
        const { stdout, stderr } = await run('curl', [...options, ...more, url]);
        const [body = '', status] = stdout.split('\n');
        expect([status, stderr]).toEqual(['503', '']);
        expect(JSON.parse(body)).toMatchObject({ code: 'overloaded', mayHaveRun: false });
      }
    });

    it('when it reads nothing before it has sent everything', async () => {
      const socket = await dial(api.url);
      socket.pause();
      const answer = everything(socket);
      socket.write(`POST ${EXECUTE} HTTP/1.1\r\nhost: a\r\ncontent-length: ${LARGE.length}\r\n\r\n`);
      await new Promise((resolve) => socket.write(LARGE, resolve));
      socket.resume();
      isWhole(await answer);
    });

    it('one after the other, and five at a time', async () => {
      const headers = { 'content-length': String(LARGE.length) };
      for (let round = 0; round < 3; round++) {
        const calls = Array.from({ length: 5 }, () => api.execute({ headers, body: Readable.from([LARGE]) }));
        const answers = await Promise.all(calls);
        expect(answers.filter(({ status, json }) => status !== 503 || json.code !== 'overloaded')).toEqual([]);
      }
    });

    it('also when it goes on sending for ever, or does not go on', async () => {
      for (const goesOn of [true, false]) {
        const socket = await dial(api.url);
        socket.write(`POST ${EXECUTE} HTTP/1.1\r\nhost: a\r\ncontent-length: ${1e12}\r\n\r\nx`);
        const timer = goesOn ? setInterval(() => socket.write('x'.repeat(1000)), 20) : undefined;
        isWhole(await everything(socket).finally(() => clearInterval(timer)));
      }
    });
  });

  it('gets the whole answer with a small body that is chunked', async () => {
    const { status, json } = await api.execute({ body: Readable.from([SMALL.slice(0, 5), SMALL.slice(5)]) });
    expect([status, json.code]).toEqual([503, 'overloaded']);
  });

  it('may hang up in the middle of its body: the others are served', async () => {
    for (const size of [1000, 5_000_000]) {
      const socket = await dial(api.url);
      socket.write(`POST ${EXECUTE} HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\nx`);
      await once(socket, 'data');
      socket.destroy();
      expect((await api.execute()).status).toBe(503);
    }
  });

  it('is counted like any other that is refused', async () => {
    const before = await api.counted();
    for (let call = 0; call < 3; call++) await api.execute();
    const after = await api.counted();
    expect(after.executions - before.executions).toBe(3);
    expect(after.requests - before.requests).toBe(3);
  });

  it('goes on when it is not refused', async () => {
    api.refuseNone();
    expect(await api.execute()).toMatchObject({ status: 200, text: SMALL });
    expect(await api.execute({ body: Readable.from([SMALL]) })).toMatchObject({ status: 200, text: SMALL });
  });

  it.each<[string, string, Call]>([
    ['has an Idempotency-Key', EXECUTE, { headers: { 'idempotency-key': 'one' } }],
    ['comes from a page', EXECUTE, { headers: { origin: 'http://127.0.0.1' } }],
    ['has a cookie', EXECUTE, { headers: { cookie: 'session=1' } }],
    ['is no POST', EXECUTE, { method: 'GET', body: '' }],
    ['is another route', '/rule-server/mock/executions', {}],
    ['has a query', `${EXECUTE}?a=1`, {}],
  ])('goes on when it %s', async (_, path, call) => {
    expect((await api.execute(call, path)).status).toBe(200);
    expect(api.seen).toEqual([`${call.method ?? 'POST'} ${path}`]);
  });
});

describe('a plain call, where keys are needed', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(new Map([['shop', KEY]]));
  });
  beforeEach(() => api.refuseAll());
  afterAll(() => api.stop());

  it('has one line a second in the audit log, with the number of its calls', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    await Promise.all(Array.from({ length: 20 }, () => api.execute({ headers })));
    const calls = () => api.audited.reduce((all, line) => all + (line.calls ?? 0), 0);
    // The line of this second may tell of calls before.
    await eventually(() => expect(calls()).toBeGreaterThanOrEqual(20));
    const line = { what: 'refused POST /rule-server/mock/execute', who: 'shop', from: null, outcome: '503 overloaded' };
    for (const audited of api.audited) expect(audited).toEqual({ ...line, calls: expect.any(Number) });
    expect(api.audited.length).toBeLessThan(5);
  });

  it.each([
    ['unknown', { authorization: `Bearer ${KEY}1` }],
    ['missing', undefined],
    ['no bearer', { authorization: `Basic ${KEY}` }],
  ])('goes on when its key is %s: it is told so', async (_, headers) => {
    expect((await api.execute({ ...(headers && { headers }) })).status).toBe(200);
  });
});

describe('the log', () => {
  it('has one line a second for however many refusals, with their number', async () => {
    const api = await startApi();
    onTestFinished(() => api.stop());
    api.refuseAll();
    const told = () => api.lines.filter(({ msg }) => msg.includes('calls were refused'));
    const startedAt = performance.now();
    const refuse = (count: number) => Promise.all(Array.from({ length: count }, () => api.execute()));
    await refuse(100);
    await eventually(() => expect(sum(told())).toBe(100));
    expect(told().every(({ level }) => level === 40)).toBe(true);
    await refuse(3);
    await eventually(() => expect(sum(told())).toBe(103));
    expect(told().length).toBeLessThanOrEqual((performance.now() - startedAt) / 1000);
    expect(api.lines).toHaveLength(told().length);
  });
});

const sum = (lines: Api['lines']) => lines.reduce((total, line) => total + Number(line.refused), 0);

type Api = Awaited<ReturnType<typeof startApi>>;

/** An HTTP server that refuses early what the test says, before an app that answers every request with its body. */
async function startApi(keys = new Map<string, string>()) {
  const { log, lines } = captureLog();
  const metrics = createMetrics();
  const seen: string[] = [];
  let refuses = false;
  const { count } = createRequestMetrics(metrics);
  const audited: Parameters<Audit['tell']>[0][] = [];
  const early = refuseEarly({
    ...{ keyring: createKeyring(keys), metrics, count, log },
    audit: { tell: (event) => void audited.push(event), close() {} },
    whyNot: () => (refuses ? noAnswer('too-many-calls', { seconds: 7 }) : undefined),
  });
  const sockets = new Set<unknown>();
  const app = new Hono<Environment>().all('*', async ({ req, env, text }) => {
    seen.push(`${req.method} ${env.incoming.url}`);
    return text(await req.text());
  });
  const served = await serveHttp(app, quickSettings(), {
    refuses(incoming, outgoing) {
      sockets.add(incoming.socket);
      return early(incoming, outgoing);
    },
  });

  const again = (refusesNow: boolean) => {
    refuses = refusesNow;
    seen.length = 0;
    audited.length = 0;
  };
  const api = {
    ...{ url: served.url, lines, seen, audited },
    refuseAll: () => again(true),
    refuseNone: () => again(false),
    /** How many connections it ever had. */
    connections: () => sockets.size,
    execute: (call: Call = {}, path = EXECUTE) =>
      httpCall(`${served.url}${path}`, { method: 'POST', body: SMALL, ...call }),
    counted: () => countedIn(metrics),
    stop: () => served.drain(0, () => {}),
  };
  return api;
}

/** How many executions and requests were counted as refused for load. */
async function countedIn({ registry }: Metrics) {
  const lines = (await registry.metrics()).split('\n');
  const value = (name: string) =>
    Number(
      lines
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  return {
    executions: value('rule_server_executions_total{state="rejected",code="overloaded"'),
    requests: value(`rule_server_http_requests_total{route="${EXECUTE}",method="POST",status="503"`),
  };
}

async function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}); // it is closed while it still sends
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** A refusal as it came over the wire. */
function isWhole(text: string): void {
  const [head, body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 503 /);
  expect(JSON.parse(body)).toMatchObject({ code: 'overloaded', mayHaveRun: false });
}

async function everything(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
