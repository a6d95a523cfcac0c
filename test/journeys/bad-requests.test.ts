import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from '../support/http-call.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const MIB = 1024 * 1024;
const EXECUTE = '/rule-server/mock/execute';

describe('a request that cannot be run', () => {
  let service: Service;
  let client: Responder;
  beforeAll(async () => {
    service = await startService();
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
  });
  afterAll(async () => {
    expect(client.found.map(({ text }) => text).filter((text) => !text.includes('"ruleId":4711'))).toEqual([]);
    await client.stop();
    await service.stop();
  });

  it('is answered in a few kilobytes, whatever it repeats', async () => {
    const twice = Array.from({ length: 20 }, (_, at) => `"${at}":1,"${at}":1`).join();
    const { status, text } = await service.execute(`{"app":7,"ruleId":1,"${'k'.repeat(900_000)}":{${twice}}}`);
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(20_000);
  });

  describe.concurrent('is a 400 that names what is wrong', () => {
    it.each([
      ['no body', '', [{ field: 'body', code: 'empty-body', params: { example: '{"app":1,"ruleId":1}' } }]],
      [
        'a duplicate key deep inside',
        '{"app":7,"ruleId":1,"the service":{"a":[{"b":{"c":1,"c":2}}]}}',
        [{ field: 'the service.a[0].b.c', code: 'duplicate', params: {} }],
      ],
      [
        'both ids missing',
        '{"app":7}',
        [{ field: 'ruleId', code: 'required-unless', params: { instead: 'confId', or: 'scene' } }],
      ],
    ])('%s', async (_what, body, errors) => {
      const answer = await service.execute(body);
      expect(answer.status).toBe(400);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.json).toEqual({
        type: '/docs#code-bad-request',
        title: 'Bad Request',
        status: 400,
        detail: expect.stringMatching(/^`.* It did not run\.$/),
        errors: errors.map((each) => ({ ...each, message: expect.any(String) })),
        success: false,
        error: answer.json.detail,
        ...{ code: 'bad-request', reason: 'bad-request', mayHaveRun: false },
        params: {},
      });
    });

    it('invalid UTF-8', async () => {
      const answer = await service.execute(Buffer.from('{"app":7,"ruleId":1,"x":"\xff"}', 'latin1'));
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toMatchObject([
        { field: 'body', code: 'not-utf-8', message: 'is not valid UTF-8: byte 26 of line 1 is 0xff' },
      ]);
    });

    it('everything at once, in one answer', async () => {
      const answer = await service.execute(
        '{"app":"7","ruleId":-1,"ts":1.5,"the service":[],"target":"lane:","roam":{},"app ":1}',
      );
      expect(answer.status).toBe(400);
      expect(new Set(answer.json.errors.map(({ field }: { field: string }) => field))).toEqual(
        new Set(['app', 'ruleId', 'ts', 'the service', 'target', 'roam', 'app ']),
      );
    });
  });

  describe.concurrent('what a caller may leave out or add', () => {
    it.each([
      ['ids as other spellings of an integer', '{"app":7.0,"ruleId":4711e0}'],
      ['nulls', '{"app":7,"ruleId":4711,"confId":null,"ts":null,"the service":null,"target":null}'],
      ['white space', ' \r\n\t{"app":7 ,"ruleId": 4711}\n'],
    ])('%s', async (_what, body) => {
      expect((await service.execute(body)).status).toBe(200);
    });

    it('the content type, unless it is a browser', async () => {
      const body = '{"app":7,"ruleId":4711}';
      const headers = { 'content-type': 'text/plain' };
      expect((await service.call(EXECUTE, { method: 'POST', body })).status).toBe(200);
      expect((await service.call(EXECUTE, { method: 'POST', body, headers })).status).toBe(200);
    });
  });

  describe.concurrent('a page in a browser', () => {
    const body = '{"app":7,"ruleId":4711}';
    const post = (headers: Record<string, string>) => service.call(EXECUTE, { method: 'POST', body, headers });

    it.each([
      ['a form', { origin: 'http://evil.example', 'content-type': 'application/x-www-form-urlencoded' }],
      ['plain text', { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain;charset=UTF-8' }],
      ['no content type', { origin: 'null' }],
      ['a type that only contains the right one', { origin: 'x', 'content-type': 'text/plain; application/json' }],
    ])('cannot send %s: 415', async (_what, headers) => {
      const answer = await post(headers);
      expect(answer.status).toBe(415);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.json).toMatchObject({ success: false, code: 'foreign-type', mayHaveRun: false });
    });

    it('can send JSON', async () => {
      const headers = { origin: service.url, 'content-type': 'Application/JSON; charset=utf-8' };
      expect((await post(headers)).status).toBe(200);
    });
  });

  describe.concurrent('a compressed body', () => {
    it.each([
      ['POST', EXECUTE],
      ['POST', '/rule-server/mock/batches'],
      ['PUT', '/rule-server/mock/cases?app=7&ruleId=1'],
      ['POST', '/session'],
    ])('%s %s: 415, which names the encoding that is read', async (method, path) => {
      const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
      const answer = await service.call(path, { method, headers, body: gzipSync('{"app":7,"ruleId":1}') });
      expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity']);
      expect(answer.headers['content-type']).toBe('application/problem+json');
    });

    it('identity is none', async () => {
      const headers = { 'content-encoding': 'identity' };
      expect((await service.execute({ app: 7, ruleId: 4711 }, { headers })).status).toBe(200);
    });
  });

  describe.concurrent('a body that is too large', () => {
    it.each([
      ['2 MiB announced', { body: Buffer.alloc(2 * MIB, 'x') }],
      ['2 MiB in chunks', { body: chunks(2) }],
      ['one byte over', { body: Buffer.alloc(MIB + 1, 'x') }],
    ] satisfies [string, Call][])('%s: its sender sees the 413', async (_what, call) => {
      const answer = await service.call(EXECUTE, { method: 'POST', ...call });
      expect(answer.status).toBe(413);
      expect(answer.headers.connection).toBe('close');
      expect(answer.json).toMatchObject({
        success: false,
        code: 'body-too-large',
        params: { maxBytes: 1_048_576, setting: 'MAX_BODY_BYTES' },
      });
    });

    it('exactly the limit is read', async () => {
      const body = '{"app":7,"ruleId":4711}';
      expect((await service.execute(body.padEnd(MIB))).status).toBe(200);
    });

    it.each([
      ['announced', `content-length: ${300 * MIB}`],
      ['in chunks', 'transfer-encoding: chunked'],
    ])('300 MiB %s: refused long before the end, and the connection is closed', async (how, length) => {
      const id = `forever-${how.replace(' ', '-')}`;
      const { received, sentBytes } = await sendForever(service.url, `x-request-id: ${id}\r\n${length}`);
      // A sender whose next write meets the closed connection cannot read what it was sent before.
      expect(received).toMatch(/^(HTTP\/1\.1 413 |$)/);
      expect(service.log.filter(({ requestId }) => requestId === id).map(({ status }) => status)).toEqual([413]);
      expect(sentBytes).toBeLessThan(100 * MIB);
      expect((await service.call('/healthz')).status).toBe(200);
    });
  });

  describe.concurrent('the wrong place', () => {
    it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s on execute: 405 with Allow', async (method) => {
      const answer = await service.call(EXECUTE, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('POST');
      expect(answer.json).toMatchObject({ success: false, code: 'wrong-method', params: { method, allowed: 'POST' } });
    });

    it('an unknown path: 404', async () => {
      const answer = await service.call('/rule-server/mock/exceute', { method: 'POST', body: '{}' });
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.json).toMatchObject({
        success: false,
        code: 'nothing-there',
        params: { path: '/rule-server/mock/exceute' },
      });
    });

    it('every answer names its request in the log', async () => {
      const answer = await service.call('/nothing', { headers: { 'x-request-id': 'abc-123' } });
      expect(answer.headers['x-request-id']).toBe('abc-123');
      expect(service.log.filter(({ requestId }) => requestId === 'abc-123')).toHaveLength(1);
    });
  });

  it('a caller that closes in the middle of its body leaves nothing behind', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const head = `POST ${EXECUTE} HTTP/1.1\r\nhost: localhost\r\nx-request-id: cut-off\r\ncontent-length: 1000\r\n\r\n{"app":7,`;
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    socket.destroy();
    await expect
      .poll(() => service.log.filter(({ requestId }) => requestId === 'cut-off'), { timeout: 60_000 })
      .toEqual([expect.objectContaining({ status: 400, level: 30 })]);
  });
});

describe('with API keys', () => {
  const KEY = 'a-key-of-sixteen-characters';
  let service: Service;
  beforeAll(async () => {
    service = await startService({ settings: { API_KEYS: `team:${KEY},other:another-long-enough-key` } });
  });
  afterAll(() => service.stop());

  it.each([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer wrong' }],
    ['half a key', { authorization: `Bearer ${KEY.slice(0, -1)}` }],
    ['a key in another scheme', { authorization: `Basic ${KEY}` }],
    ['an empty key', { authorization: 'Bearer ' }],
  ])('%s: 401, whatever the body', async (_what, headers) => {
    const answer = await service.execute('not even JSON', { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.json).toMatchObject({ success: false, code: expect.stringMatching(/^key-/), mayHaveRun: false });
  });

  it('without a key not even the methods and paths are told', async () => {
    expect((await service.call(EXECUTE)).status).toBe(401);
    expect((await service.call('/nowhere')).status).toBe(401);
  });

  it('a key opens, and its name, never the key, is in the log', async () => {
    const headers = { authorization: `Bearer ${KEY}`, 'x-request-id': 'with-key' };
    const answer = await service.execute({ app: 1, ruleId: 1 }, { headers });
    expect(answer.json.code).toBe('no-client');
    expect(service.log.find(({ requestId }) => requestId === 'with-key')).toMatchObject({ keyName: 'team' });
    expect(JSON.stringify(service.log)).not.toContain(KEY);
  });

  it('health needs none', async () => {
    expect((await service.call('/healthz')).status).toBe(200);
    expect((await service.call('/readyz')).json).toMatchObject({ status: 'ready', queue: 'up' });
  });
});

function chunks(mebibytes: number): Readable {
  return Readable.from(Array.from({ length: mebibytes * 16 }, () => Buffer.alloc(MIB / 16, 'x')));
}

/** Sends until the server has had enough. */
function sendForever(url: string, length: string): Promise<{ received: string; sentBytes: number }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const framed = length.includes('content-length')
      ? chunk
      : Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]);
    let received = '';
    let sentBytes = 0;
    const pump = () => {
      while (!socket.destroyed && sentBytes < 300 * MIB) {
        sentBytes += chunk.length;
        if (!socket.write(framed)) return void socket.once('drain', pump);
      }
    };
    socket.on('data', (data) => {
      received += data;
    });
    socket.on('error', () => {}); // the server closed while we sent: that is what it should do
    socket.on('close', () => resolve({ received, sentBytes }));
    socket.write(`POST ${EXECUTE} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`);
    pump();
  });
}
