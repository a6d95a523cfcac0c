import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../../src/api/http/environment.ts';
import { accepts, compressJson, layers, tagAnswers } from '../../../src/api/http/middleware.ts';

const long = JSON.stringify({ numbers: Array.from({ length: 400 }, (_, n) => n), exact: '9007199254740993' });
const app = new Hono<Environment>();
app.use(layers(compressJson()));
app.use('/tagged', layers(tagAnswers()));
app.get('/long', (context) => context.body(long, 200, { 'content-type': 'application/json' }));
app.get('/tagged', (context) => context.body(long, 200, { 'content-type': 'application/json' }));
app.get('/short', (context) => context.json({ a: 1 }));
app.post('/long', (context) => context.body(long, 200, { 'content-type': 'application/json' }));
app.get('/events', (context) => streamSSE(context, (stream) => stream.writeSSE({ data: long })));
const gzip = { headers: { 'accept-encoding': 'gzip, deflate, br' } };

describe('what a caller reads', () => {
  test('is compressed when it is long and the caller takes gzip, and is the same text to the letter', async () => {
    const answer = await app.request('/long', gzip);
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    const body = Buffer.from(await answer.arrayBuffer());
    expect(body.byteLength).toBeLessThan(long.length / 2);
    expect(gunzipSync(body).toString()).toBe(long);
  });

  test.each([
    ['a short one', '/short', gzip],
    ['to a caller that does not ask for it', '/long', {}],
    ['to a caller that refuses it', '/long', { headers: { 'accept-encoding': 'gzip;q=0' } }],
    ['the answer of a call', '/long', { ...gzip, method: 'POST' }],
    ['events', '/events', gzip],
  ])('is not compressed: %s', async (_, path, init) => {
    const answer = await app.request(path, init);
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect((await answer.text()).length).toBeGreaterThan(0);
  });

  test('is sent once: who has it already is told so', async () => {
    const first = await app.request('/tagged', gzip);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"/);
    const again = await app.request('/tagged', { headers: { ...gzip.headers, 'if-none-match': `"other", ${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const other = await app.request('/tagged', { headers: { 'if-none-match': '"other"' } });
    expect([other.status, await other.text()]).toEqual([200, long]);
  });
});

test.each([
  ['gzip', true],
  ['br;q=1.0, gzip;q=0.8', true],
  ['*', true],
  ['gzip;q=0', false],
  ['*;q=0', false],
  ['identity', false],
  [undefined, false],
])('Accept-Encoding %s takes gzip: %s', (header, taken) => {
  expect(accepts(header, 'gzip')).toBe(taken);
});
