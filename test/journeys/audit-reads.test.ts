import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { operations } from '../../src/api/openapi/document.ts';
import { digestOf } from '../../src/shared/runtime/access/caller.ts';
import { openEventStream } from '../support/event-stream.ts';
import type { Call } from '../support/http-call.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const KEY = 'the-key-of-ada-in-this-test';
const ELSEWHERE = 'the-key-of-bob-in-this-test';
const INPUT = 'input-of-a-customer';
const EXECUTIONS = '/rule-server/mock/executions';
const BATCHES = '/rule-server/mock/batches';
const CASES = '/rule-server/mock/cases?app=7&ruleId=1';
const DOCUMENT = `app: 7\nruleId: 1\ncases:\n  - name: one\n    input: { said: ${INPUT} }\n`;

const lineSchema = z.looseObject({ what: z.string(), who: z.string().nullable(), outcome: z.string() });
type Line = z.infer<typeof lineSchema>;

describe('the audit log', () => {
  let directory: string;
  let service: Service;
  let client: Responder;
  const ids = { mockId: '', batchId: '' };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rule-server-audit-'));
    const keys = [
      { name: 'ada', sha256: digestOf(KEY).toString('hex') },
      { name: 'bob', sha256: digestOf(ELSEWHERE).toString('hex'), apps: [8] },
    ];
    await writeFile(join(directory, 'keys.yaml'), JSON.stringify({ keys })); // JSON is YAML
    const settings = { API_KEYS_FILE: join(directory, 'keys.yaml'), AUDIT_LOG: join(directory, 'audit.jsonl') };
    service = await startService({ settings });
    const does = answers({ 'the service': { copy: INPUT } }); // a report shows what a rule changed
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does });
    const input = { said: INPUT };
    ids.mockId = (await post('/rule-server/mock/execute', { app: 7, ruleId: 1, 'the service': input })).json.mockId;
    const cases = [{ name: 'one', 'the service': input, expect: { data: { said: 'else' } } }];
    ids.batchId = (await post(BATCHES, { app: 7, ruleId: 1, cases })).json.batchId;
    const state = async () => (await ask(`${BATCHES}/${ids.batchId}`)).json.state;
    await vi.waitFor(async () => expect(await state()).toBe('finished'), 60_000);
    await ask(CASES, { method: 'PUT', headers: { 'if-none-match': '*' }, body: DOCUMENT });
  });
  afterAll(async () => {
    await client?.stop();
    await service?.stop();
  });

  const ask = (path: string, { headers, ...more }: Call = {}) =>
    service.call(path, { ...more, headers: { authorization: `Bearer ${KEY}`, ...headers } });
  const post = (path: string, body: object) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const lines = async (): Promise<Line[]> =>
    (await readFile(join(directory, 'audit.jsonl'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => lineSchema.parse(JSON.parse(line)));
  /** The lines that a call adds. */
  async function toldOf(call: () => Promise<unknown>): Promise<Line[]> {
    const before = (await lines()).length;
    await call();
    return (await lines()).slice(before);
  }

  const OF_EXECUTION = { app: 7, ruleId: '1' };
  const READS = [
    { path: `${EXECUTIONS}/{mockId}`, about: { ...OF_EXECUTION } },
    { path: `${EXECUTIONS}?include=input`, about: {} },
    { path: `${EXECUTIONS}?include=input&app=7`, about: { app: 7 } },
    { path: `${BATCHES}/{batchId}/items/1`, about: { ...OF_EXECUTION } },
    { path: `${BATCHES}/{batchId}/report?format=json`, about: { ...OF_EXECUTION } },
    { path: `${BATCHES}/{batchId}/report?format=csv`, about: { ...OF_EXECUTION } },
    { path: CASES, about: { ...OF_EXECUTION } },
  ];
  const named = (path: string) => path.replace('{mockId}', ids.mockId).replace('{batchId}', ids.batchId);

  it.each(READS)('has a line of $path, which shows an input', async ({ path, about }) => {
    let text = '';
    const told = await toldOf(async () => {
      text = (await ask(named(path))).text;
    });
    expect(text).toContain(INPUT);
    const which = path.includes('{batchId}') ? { batchId: ids.batchId } : {};
    expect(told).toEqual([
      expect.objectContaining({ what: expect.stringMatching(/input/), who: 'ada', outcome: '200', ...about, ...which }),
    ]);
  });

  it('has a line of every answer that shows an input, whichever operation gives it', async () => {
    const reads = operations.filter(({ method, path }) => method === 'get' && path.startsWith('/rule-server/'));
    const silent = [];
    for (const { path } of reads.filter((each) => !each.path.endsWith('/events'))) {
      for (const query of [
        '',
        '?app=7&ruleId=1',
        '?include=input',
        '?format=json',
        '?format=markdown',
        '?format=junit',
      ]) {
        const asked = `${named(path).replace('{n}', '1')}${query}`;
        let text = '';
        const told = await toldOf(async () => {
          text = (await ask(asked)).text;
        });
        if (text.includes(INPUT) && told.length === 0) silent.push(`${path}${query}`);
      }
    }
    expect(silent).toEqual([]);
  });

  it('has a line of the events of an execution when they show its input', async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    let shown = '';
    const told = await toldOf(async () => {
      const stream = await openEventStream(`${service.url}${EXECUTIONS}/${ids.mockId}/events`, { headers });
      await stream.ended;
      shown = JSON.stringify(stream.events);
    });
    expect(told.length > 0).toBe(shown.includes(INPUT));
  });

  it('says which app, rule, execution and batch a change was about', async () => {
    const json = { 'content-type': 'application/json' };
    const begun = await toldOf(() => post(BATCHES, { app: 7, ruleId: 1, cases: [{ name: 'one' }] }));
    expect(begun).toEqual([expect.objectContaining({ app: 7, ruleId: '1', batchId: expect.any(String) })]);
    const { etag } = (await ask(CASES)).headers;
    const saved = await toldOf(() =>
      ask(CASES, { method: 'PUT', headers: { 'if-match': String(etag) }, body: `${DOCUMENT}# more\n` }),
    );
    expect(saved).toEqual([expect.objectContaining({ app: 7, ruleId: '1', outcome: '200' })]);
    const over = await toldOf(() => ask(named(`${BATCHES}/{batchId}`), { method: 'DELETE', headers: json }));
    expect(over).toEqual([expect.objectContaining({ app: 7, ruleId: '1', batchId: ids.batchId })]);
    const cancelled = await toldOf(() => ask(named(`${EXECUTIONS}/{mockId}`), { method: 'DELETE' }));
    expect(cancelled).toEqual([expect.objectContaining({ what: 'cancel', app: 7, ruleId: '1', mockId: ids.mockId })]);
    const other = (await post('/rule-server/mock/execute', { app: 7, ruleId: 1 })).json.mockId;
    const erased = await toldOf(() => ask(`${EXECUTIONS}/${other}?erase=true`, { method: 'DELETE' }));
    expect(erased).toEqual([expect.objectContaining({ what: 'erase', app: 7, ruleId: '1', mockId: other })]);
  });

  it('says which app was refused to whom', async () => {
    const headers = { authorization: `Bearer ${ELSEWHERE}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ app: 7, ruleId: 1 });
    const told = await toldOf(() => service.call('/rule-server/mock/execute', { method: 'POST', headers, body }));
    expect(told).toEqual([expect.objectContaining({ who: 'bob', app: 7, outcome: expect.stringMatching(/^403/) })]);
    const hidden = await toldOf(() => service.call(named(`${EXECUTIONS}/{mockId}`), { headers }));
    expect(hidden).toEqual([expect.objectContaining({ who: 'bob', outcome: '404', mockId: ids.mockId })]);
  });

  it('names the person whose browser a foreign page used', async () => {
    const signIn = JSON.stringify({ key: KEY });
    const { headers } = await service.call('/session', { method: 'POST', body: signIn });
    const cookie = String(headers['set-cookie']?.[0]?.split(';')[0]);
    const from = { cookie, origin: 'https://foreign.example', 'content-type': 'application/json' };
    const told = await toldOf(() =>
      service.call('/rule-server/mock/execute', { method: 'POST', headers: from, body: '{"app":7,"ruleId":1}' }),
    );
    expect(told).toEqual([expect.objectContaining({ who: 'ada', outcome: expect.stringMatching(/^403/) })]);
  });
});
