import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { startAssistant } from './assistant.ts';

describe('rule-server mcp', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.stop());

  const assistant = (...parameters: string[]) => startAssistant(service.url, ...parameters);

  async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return { isError: isError ?? false, text: first?.type === 'text' ? first.text : '' };
  }

  it('has these tools when it may run rules, and says which of them only read', async () => {
    await using client = await assistant('--allow-run');
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['list_rules', true],
      ['describe_inputs', true],
      ['check', true],
      ['run_rule', false],
      ['find_runs', true],
      ['explain_run', true],
      ['since', true],
      ['replay', false],
      ['test', false],
      ['report', false],
    ]);
  });

  it('runs nothing unless it may', async () => {
    await using client = await assistant();
    await using app = await createResponder({ sharedDir: service.sharedDir, app: 8801, does: echoes() });
    const refused = await call(client, 'run_rule', { app: 8801, ruleId: 1 }).catch((error: unknown) => ({
      isError: true,
      text: String(error),
    }));
    expect(refused).toEqual({ isError: true, text: expect.stringMatching(/run_rule|Runs are off/) });
    expect(app.found).toEqual([]);
  });

  it('runs a rule once with its numbers as they were written, finds the run again, and explains it', async () => {
    await using client = await assistant('--allow-run');
    await using app = await createResponder({ sharedDir: service.sharedDir, app: 8802, does: echoes() });
    await writeRule(8802, '9007199254740993');
    const input = '{"uid":9007199254740993,"cost":120.10}';
    const ran = await call(client, 'run_rule', { app: 8802, ruleId: '9007199254740993', input });
    expect(ran.text).toContain('"uid":9007199254740993');
    expect(ran.text).toContain('"ruleId":9007199254740993');
    expect(JSON.parse(ran.text)).toMatchObject({ state: 'succeeded', app: 8802 });
    expect(app.found.map(({ text }) => text)).toEqual([expect.stringContaining(input)]);
    const { mockId } = JSON.parse(ran.text);
    const newest = await call(client, 'find_runs', { app: 8802 });
    expect(JSON.parse(newest.text).items).toMatchObject([{ mockId, input: { cost: 120.1 } }]);
    const found = await call(client, 'find_runs', { app: 8802, where: ['uid=9007199254740993', 'cost>=120.1'] });
    expect(JSON.parse(found.text)).toMatchObject({ items: [{ mockId }], looked: { executions: 1 } });
    const neighbour = await call(client, 'find_runs', { app: 8802, where: ['uid=9007199254740992'] });
    expect(JSON.parse(neighbour.text).items).toEqual([]);
    const explained = await call(client, 'explain_run', { mockId });
    expect(explained.text).toContain(`"input":${input}`);
    expect(JSON.parse(explained.text)).toMatchObject({
      why: { outcome: null, path: [], sentences: [] }, // this client writes no trace
      execution: { mockId, result: { success: true } },
      tree: { rule: { name: 'campaign' } },
    });
  });

  it('lists apps, rules and inputs, and says what is wrong with a question', async () => {
    await using client = await assistant();
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 8803, does: echoes() });
    expect(JSON.parse((await call(client, 'list_rules')).text)).toHaveProperty('items');
    expect(JSON.parse((await call(client, 'list_rules', { app: 8803 })).text)).toMatchObject({
      rules: { app: 8803 },
      clients: { items: [{ state: 'online' }] },
    });
    const wrong = await call(client, 'describe_inputs', { app: 8803 });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('ruleId') });
    const text = await call(client, 'explain_run', { mockId: '00000000-0000-4000-8000-000000000000' });
    expect(text).toMatchObject({ isError: true, text: expect.stringContaining('There is no execution') });
  });

  it('cancels a run that the assistant gives up, and says that the input must be an object', async () => {
    await using client = await assistant('--allow-run');
    await using app = await createResponder({ sharedDir: service.sharedDir, app: 8804, does: () => {} });
    const bad = await call(client, 'run_rule', { app: 8804, ruleId: 1, input: '[1]' });
    expect(bad).toEqual({ isError: true, text: 'input must be a JSON object, as text.' });
    const given = new AbortController();
    const run = client.callTool({ name: 'run_rule', arguments: { app: 8804, ruleId: 1 } }, { signal: given.signal });
    await expect.poll(() => app.found.length, { timeout: 60_000 }).toBe(1);
    given.abort();
    await expect(run).rejects.toThrow();
    await expect
      .poll(async () => JSON.parse((await call(client, 'find_runs', { app: 8804 })).text).items, { timeout: 60_000 })
      .toMatchObject([{ state: 'cancelled' }]);
  });

  async function writeRule(app: number, id: string): Promise<void> {
    for (const folder of ['bases', 'confs'])
      await mkdir(join(service.sharedDir, String(app), folder), { recursive: true });
    const [bases, confs] = ['bases', 'confs'].map((folder) => join(service.sharedDir, String(app), folder));
    await writeFile(`${bases}/${id}.json`, `{"id":${id},"app":${app},"status":1,"name":"campaign","confId":2}`);
    await writeFile(`${confs}/2.json`, `{"id":2,"app":${app},"status":1,"type":1}`);
  }
});
