import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOf } from '../../src/shared/runtime/access/caller.ts';
import { answers, createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const SECRET = 'secret-4711';
const KEY = 'the-key-of-ada-in-this-test';

it('the audit log tells who did what, from where and how it went, and nothing of the data', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-audit-'));
  const [keysFile, auditLog] = [join(directory, 'keys.yaml'), join(directory, 'audit.jsonl')];
  const writeKeys = (may: string) =>
    writeFile(keysFile, `keys: [{ name: ada, sha256: ${digestOf(KEY).toString('hex')}, may: ${may} }]`);
  await writeFile(auditLog, '{"what":"before"}\n');
  await writeKeys('[read, run, cancel]');
  const settings = {
    API_KEYS_FILE: keysFile,
    AUDIT_LOG: auditLog,
    TRUSTED_PROXIES: '127.0.0.1',
    ICE_ENDPOINTS: 1,
  };
  await using service = await startService({ settings });
  const does = answers({ 'the service': { secret: SECRET } });
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does });
  const headers = { authorization: `Bearer ${KEY}`, 'x-forwarded-for': '203.0.113.7' };
  const input = { app: 7, ruleId: 1, confId: 2, 'the service': { [SECRET]: SECRET } };
  const { mockId } = (await service.execute(input, { headers })).json;
  expect(client.found[0]?.text).toContain(SECRET);
  const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
  const body = JSON.stringify({ app: 7, iceId: 1, roam: { [SECRET]: SECRET } });
  await service.call('/ice-server/mock/execute', { ...post, body });
  await service.call('/ice-server/mock/execute', { ...post, body: '{"app":7}' });
  const one = `/rule-server/mock/executions/${mockId}`;
  await service.call(one, { headers });
  await service.call(one, { method: 'DELETE', headers });
  await service.call('/rule-server/mock/executions', { headers }); // no input in there
  await service.call('/metrics', { headers });
  await service.call('/session', { method: 'POST', body: JSON.stringify({ key: SECRET }) });
  await service.call('/session', { method: 'POST', body: JSON.stringify({ key: KEY }) });
  await service.execute(input, { headers: { authorization: `Bearer ${SECRET}` } });
  await writeKeys('[read]');
  const lines = async () =>
    (await readFile(auditLog, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await expect.poll(async () => (await lines()).at(-1)?.what, { timeout: 60_000 }).toBe('keys changed');
  await service.execute(input, { headers });
  const [before, ...told] = await lines();
  expect(before).toEqual({ what: 'before' });
  const from = '203.0.113.7';
  const ofIce = client.found[1]?.mockId;
  const at = { audit: expect.any(String) };
  expect(told).toEqual([
    { ...at, what: 'run', who: 'ada', from, app: 7, ruleId: '1', confId: '2', mockId, outcome: '200' },
    { ...at, what: 'run', who: 'ada', from, app: 7, ruleId: '1', confId: null, mockId: ofIce, outcome: '200' },
    { ...at, what: 'run', who: 'ada', from, outcome: '200 bad-request' },
    { ...at, what: 'read of an input', who: 'ada', from, app: 7, ruleId: '1', confId: '2', mockId, outcome: '200' },
    { ...at, what: 'cancel', who: 'ada', from, app: 7, ruleId: '1', confId: '2', mockId, outcome: '409' },
    { ...at, what: 'refused GET /metrics', who: 'ada', from, outcome: '403' },
    { ...at, what: 'failed sign-in', who: null, from: '127.0.0.1', outcome: '401' },
    { ...at, what: 'sign-in', who: 'ada', from: '127.0.0.1', outcome: '204' },
    { ...at, what: 'failed sign-in', who: null, from: '127.0.0.1', outcome: '401' },
    {
      ...at,
      what: 'keys changed',
      who: null,
      from: null,
      outcome: 'read',
      keys: { added: [], removed: [], changed: ['ada'] },
    },
    { ...at, what: 'refused POST /rule-server/mock/execute', who: 'ada', from, outcome: '403' },
  ]);
  expect(await readFile(auditLog, 'utf8')).not.toContain(SECRET);
  expect(await readFile(auditLog, 'utf8')).not.toContain(KEY);
});

it('the audit log has an erasure', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-audit-'));
  const auditLog = join(directory, 'audit.jsonl');
  await using service = await startService({ settings: { AUDIT_LOG: auditLog } });
  await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
  const { mockId } = (await service.execute({ app: 7, ruleId: 1 })).json;
  const { status } = await service.call(`/rule-server/mock/executions/${mockId}?erase=true`, { method: 'DELETE' });
  expect(status).toBeLessThan(300);
  const lines = (await readFile(auditLog, 'utf8')).trim().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ what: 'erase', mockId, outcome: String(status) });
});
