import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operations } from '../../src/api/openapi/document.ts';
import { digestOf, permissions } from '../../src/shared/runtime/access/caller.ts';
import { openEventStream } from '../support/event-stream.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const keyOf = (name: string) => `the-key-of-${name}-in-this-test`;
const entry = (name: string, more: object) => ({ name, sha256: digestOf(keyOf(name)).toString('hex'), ...more });
const KEYS = [
  entry('everything', {}),
  ...permissions.map((permission) => entry(`only-${permission}`, { may: [permission] })),
  ...permissions.map((permission) =>
    entry(`without-${permission}`, { may: permissions.filter((p) => p !== permission) }),
  ),
  entry('nothing', { may: [] }),
  entry('elsewhere', { apps: [8] }),
  entry('here', { apps: [7] }),
  entry('over', { expires: '2020-01-01' }),
  entry('slow', { limits: { callsPerSecond: 3 } }),
  entry('narrow', { limits: { streams: 1, openCalls: 1 } }),
];

/** The rows of the table in docs/run/security.md: what is asked, which permission it takes, what a key for other apps gets. */
const ROWS = [
  ...readFileSync(join(import.meta.dirname, '../../docs/run/security.md'), 'utf8').matchAll(
    /^\| `(GET|PUT|POST|DELETE) (\S+)` \| ([\w ]+) \| ([\w ]+) \|$/gm,
  ),
].map(([, method = '', path = '', permission = '', elsewhere = '']) => ({ method, path, permission, elsewhere }));

describe('who may do what', () => {
  let directory: string;
  let service: Service;
  let client: Responder;
  let mockId: string;
  let batchId: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
    await writeFile(join(directory, 'keys.yaml'), JSON.stringify({ keys: KEYS })); // JSON is YAML
    const settings = { API_KEYS_FILE: join(directory, 'keys.yaml'), ICE_ENDPOINTS: 1 };
    service = await startService({ settings, logsErrors: true });
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    mockId = (await ask('everything', 'POST', '/rule-server/mock/execute')).json.mockId;
    batchId = (await ask('everything', 'POST', '/rule-server/mock/batches')).json.batchId;
    const batch = () => ask('everything', 'GET', '/rule-server/mock/batches/{batchId}');
    await vi.waitFor(async () => expect((await batch()).json.state).toBe('finished'), 60_000);
  });
  afterAll(async () => {
    await client?.stop();
    await service?.stop();
  });

  const ask = (name: string, method: string, path: string) =>
    service.call(path.replace('{mockId}', mockId).replace('{batchId}', batchId).replace('{n}', '1'), {
      method,
      headers: { authorization: `Bearer ${keyOf(name)}`, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: `{"app":7,"ruleId":1${path.endsWith('batches') ? ',"cases":[{}]' : ''}}` }),
    });

  it('the table names every operation that needs a key', () => {
    const listed = new Set(ROWS.map(({ method, path }) => `${method} ${path.split('?')[0]}`));
    const documented = operations.flatMap(({ method, path, open }) => (open ? [] : `${method.toUpperCase()} ${path}`));
    expect(documented.filter((operation) => !listed.has(operation))).toEqual([]);
  });

  it.each(ROWS)('$method $path: $permission, $elsewhere', async ({ method, path, permission, elsewhere }) => {
    const allowed = (await ask('everything', method, path)).status;
    expect([200, 202, 204, 404, 409, 428]).toContain(allowed); // a rule that is not there, an execution that has ended, a change of what
    if (path.includes('{')) expect(allowed).not.toBe(404); // else what a key for other apps gets would say nothing
    if (permission === 'any key') expect((await ask('nothing', method, path)).status).toBe(200);
    else {
      expect((await ask(`only-${permission}`, method, path)).status).toBe(allowed);
      for (const name of [`without-${permission}`, 'nothing']) {
        const { status, json } = await ask(name, method, path);
        expect([status, json.error]).toEqual([403, expect.stringContaining(`needs the permission "${permission}"`)]);
      }
    }
    const other = await ask('elsewhere', method, path);
    if (elsewhere === '403' || elsewhere === '404') expect(other.status).toBe(Number(elsewhere));
    else expect(other.status).toBe(200);
    if (elsewhere === 'left out') {
      expect(other.text).not.toContain('"app":7');
      expect((await ask('here', method, path)).text).toContain('"app":7');
    }
    expect((await ask('over', method, path)).json.error).toMatch(/"over" has expired/);
  });

  it('the endpoints of the published server take the same permissions, and say so in its envelope', async () => {
    const before = client.found.length;
    const ice = (name: string) =>
      service.call('/ice-server/mock/execute', {
        method: 'POST',
        headers: { authorization: `Bearer ${keyOf(name)}`, 'content-type': 'application/json' },
        body: '{"app":7,"iceId":1}',
      });
    expect((await ice('without-run')).text).toContain('needs the permission');
    expect((await ice('elsewhere')).text).toContain('App 7 needs an API key for it');
    const schema = '/ice-server/mock/schema?app=7&iceId=1';
    expect((await ask('without-read', 'GET', schema)).text).toContain('needs the permission');
    expect((await ask('elsewhere', 'GET', schema)).text).toContain('App 7 needs an API key for it');
    expect(client.found).toHaveLength(before);
    await ice('only-run');
    expect(client.found).toHaveLength(before + 1);
  });

  it('a key can ask whose it is and what it may do', async () => {
    const told = async (name: string) => (await ask(name, 'GET', '/session')).json;
    expect(await told('only-read')).toEqual({ name: 'only-read', may: ['read'], apps: null });
    expect(await told('here')).toEqual({ name: 'here', may: [...permissions], apps: [7] });
    expect((await service.call('/session')).status).toBe(401);
  });

  it('a console signed in with a key may do what that key may', async () => {
    const body = JSON.stringify({ key: keyOf('only-read') });
    const { headers } = await service.call('/session', { method: 'POST', body });
    const cookie = String(headers['set-cookie']?.[0]?.split(';')[0]);
    const sent = { headers: { cookie, origin: service.url, 'content-type': 'application/json' } };
    expect((await service.call('/rule-server/mock/executions', sent)).status).toBe(200);
    const run = await service.call('/rule-server/mock/execute', { method: 'POST', body: '{}', ...sent });
    expect([run.status, run.json.error]).toEqual([403, expect.stringContaining('"run"')]);
  });

  it('one key never gets what another asked for under the same Idempotency-Key', async () => {
    const run = (name: string) =>
      service.call('/rule-server/mock/execute', {
        method: 'POST',
        body: '{"app":7,"ruleId":1}',
        headers: { authorization: `Bearer ${keyOf(name)}`, 'idempotency-key': 'the-same' },
      });
    const [mine, again, theirs] = [await run('everything'), await run('everything'), await run('only-run')];
    expect(again.json.mockId).toBe(mine.json.mockId);
    expect(theirs.json.mockId).not.toBe(mine.json.mockId);
  });

  it('beyond its limit a key gets 429 and when to come back, and it is counted; others are served', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => ask('slow', 'GET', '/rule-server/mock/executions')),
    );
    const limited = statuses.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(5);
    expect(limited[0]?.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"calls";r=0;t=1' });
    const served = statuses.find(({ status }) => status === 200);
    expect(served?.headers).toMatchObject({
      'ratelimit-policy': '"calls";q=3;w=1',
      ratelimit: expect.stringMatching(/^"calls";r=[0-2];t=1$/),
    });
    expect(limited[0]?.json.error).toContain('at most 3 calls a second');
    expect((await ask('everything', 'GET', '/rule-server/mock/executions')).status).toBe(200);
    expect((await service.call('/readyz')).status).toBe(200);
    const metrics = (await ask('only-ops', 'GET', '/metrics')).text;
    expect(metrics).toMatch(/rule_server_limited_total\{limit="callsPerSecond"\} \d+/);
    await expect.poll(async () => (await ask('slow', 'GET', '/docs')).status, { timeout: 60_000 }).toBe(200);
  });

  it('each refusal is held back for a moment: who asks again at once takes nothing from the others', async () => {
    for (let refused = 0; refused < 3; ) {
      const startedAt = performance.now();
      const { status } = await ask('slow', 'GET', '/docs');
      if (status !== 429) continue;
      refused++;
      expect(performance.now() - startedAt).toBeGreaterThan(400);
    }
  });

  it('event streams and open calls are counted while they are open, and free again after', async () => {
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    client.does = async (request, self) => {
      await gate;
      await answers()(request, self);
    };
    const begun = await service.call('/rule-server/mock/execute', {
      method: 'POST',
      body: '{"app":7,"ruleId":1}',
      headers: { authorization: `Bearer ${keyOf('narrow')}`, prefer: 'respond-async' },
    });
    const events = `/rule-server/mock/executions/${begun.json.mockId}/events`;
    const headers = { authorization: `Bearer ${keyOf('narrow')}` };
    const stream = await openEventStream(`${service.url}${events}`, { headers });
    const second = await service.call(events, { headers });
    expect([second.status, second.json.error]).toEqual([429, expect.stringContaining('event streams')]);
    const open = ask('narrow', 'POST', '/rule-server/mock/execute');
    await expect.poll(async () => (await ask('narrow', 'GET', '/docs')).status, { timeout: 60_000 }).toBe(429);
    go();
    await Promise.all([stream.ended, open]);
    await expect.poll(async () => (await ask('narrow', 'GET', '/docs')).status, { timeout: 60_000 }).toBe(200);
    await expect.poll(async () => (await service.call(events, { headers })).status, { timeout: 60_000 }).toBe(200);
    client.does = answers();
  });
});

describe('a person whom a proxy names', () => {
  const USER = { 'x-forwarded-email': 'ada@example.com' };

  it('is believed from a trusted proxy only, and from our own pages only', async () => {
    const settings = { TRUSTED_USER_HEADER: 'X-Forwarded-Email', TRUSTED_PROXIES: '127.0.0.0/8' };
    await using service = await startService({ settings });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    const run = (headers: Record<string, string>) => service.execute({ app: 7, ruleId: 1 }, { headers });
    expect((await run({ ...USER, origin: service.url })).status).toBe(200);
    expect((await run(USER)).status).toBe(403);
    expect((await run({ ...USER, origin: 'https://elsewhere.example' })).status).toBe(403);
    const list = await service.call('/rule-server/mock/executions', { headers: USER });
    expect(list.json.items[0].keyName).toBe('ada@example.com');
    expect((await service.call('/docs')).status).toBe(401);
    expect(client.found).toHaveLength(1);
    const from = { ...USER, 'x-forwarded-for': '10.0.0.9, 203.0.113.7, 127.0.0.5' };
    await service.call('/docs', { headers: from });
    expect(service.log.findLast(({ path }) => path === '/docs')?.from).toBe('203.0.113.7');
  });

  it('is nobody from anywhere else', async () => {
    const settings = { TRUSTED_USER_HEADER: 'X-Forwarded-Email', TRUSTED_PROXIES: '192.0.2.1' };
    await using service = await startService({ workers: 0, settings });
    const headers = { ...USER, 'x-forwarded-for': '192.0.2.1' };
    expect((await service.call('/docs', { headers })).status).toBe(401);
    expect(service.log.findLast(({ path }) => path === '/docs')?.from).toBe('127.0.0.1');
  });
});
