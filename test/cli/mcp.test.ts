import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { echoes } from '../support/echoes.ts';
import { type Behaviour, createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { startAssistant } from './assistant.ts';

const pageSchema = z.object({ items: z.array(z.object({ mockId: z.string() })), nextCursor: z.string().nullish() });

describe('rule-server mcp', () => {
  let service: Service;
  /** One that may only read, and one that may run rules. */
  let reads: Awaited<ReturnType<typeof startAssistant>>;
  let runs: Awaited<ReturnType<typeof startAssistant>>;
  beforeAll(async () => {
    service = await startService({});
    [reads, runs] = await Promise.all([startAssistant(service.url), startAssistant(service.url, '--allow-run')]);
  });
  afterAll(async () => {
    for (const one of [reads, runs]) await one?.[Symbol.asyncDispose]();
    await service?.stop();
  });

  /** An app with one rule and a client. */
  let apps = 8800;
  async function appWithClient(does: Behaviour = echoes(), ruleId = '1') {
    const app = ++apps;
    const [bases, confs] = ['bases', 'confs'].map((name) => join(service.sharedDir, String(app), name));
    for (const folder of [bases, confs]) await mkdir(String(folder), { recursive: true });
    await writeFile(`${bases}/${ruleId}.json`, `{"id":${ruleId},"app":${app},"status":1,"name":"campaign","confId":2}`);
    await writeFile(`${confs}/2.json`, `{"id":2,"app":${app},"status":1,"type":1}`);
    return Object.assign(await createResponder({ sharedDir: service.sharedDir, app, does }), { app });
  }

  /** What a tool answers; a refusal by the protocol counts as an error with its sentence. */
  async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
    try {
      const { content, isError, structuredContent } = await client.callTool({ name, arguments: given });
      const [first] = content;
      return { isError: isError ?? false, text: first?.type === 'text' ? first.text : '', structuredContent };
    } catch (error) {
      return { isError: true, text: String(error), structuredContent: undefined };
    }
  }

  it('has these tools when it may run rules, and says which of them only read; those that are off are not listed', async () => {
    const [all, some] = await Promise.all([runs.listTools(), reads.listTools()]);
    expect(all.tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
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
    expect(some.tools).toEqual(all.tools.filter(({ annotations }) => annotations?.readOnlyHint));
    for (const { name, inputSchema } of all.tools)
      expect(inputSchema, name).toMatchObject({ additionalProperties: false });
  });

  it('runs nothing unless it may', async () => {
    await using app = await appWithClient();
    const refused = await call(reads, 'run_rule', { app: app.app, ruleId: 1 });
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/run_rule|Runs are off/) });
    expect(app.found).toEqual([]);
  });

  it('runs a rule once with its numbers as they were written, finds the run again, and explains it', async () => {
    await using responder = await appWithClient(echoes(), '9007199254740993');
    const { app, found: requests } = responder;
    const input = '{"uid":9007199254740993,"cost":120.10}';
    const ran = await call(runs, 'run_rule', { app, ruleId: '9007199254740993', input });
    expect(ran.text).toContain('"uid":9007199254740993');
    expect(ran.text).toContain('"ruleId":9007199254740993');
    expect(JSON.parse(ran.text)).toMatchObject({ state: 'succeeded', app });
    expect(requests.map(({ text }) => text)).toEqual([expect.stringContaining(input)]);
    const { mockId } = JSON.parse(ran.text);
    const newest = await call(runs, 'find_runs', { app });
    expect(JSON.parse(newest.text).items).toMatchObject([{ mockId, input: { cost: 120.1 } }]);
    const found = await call(runs, 'find_runs', { app, where: ['uid=9007199254740993', 'cost>=120.1'] });
    expect(JSON.parse(found.text)).toMatchObject({ items: [{ mockId }], searched: { executions: 1 } });
    const neighbour = await call(runs, 'find_runs', { app, where: ['uid=9007199254740992'] });
    expect(JSON.parse(neighbour.text).items).toEqual([]);
    const explained = await call(runs, 'explain_run', { mockId });
    expect(explained.text).toContain(`"input":${input}`);
    expect(JSON.parse(explained.text)).toMatchObject({
      why: { outcome: null, path: [], sentences: [] }, // this client writes no trace
      execution: { mockId, result: { success: true } },
      tree: { rule: { name: 'campaign' } },
    });
  });

  it('lists apps, rules and inputs, and says what is wrong with a question', async () => {
    await using responder = await appWithClient();
    const { app } = responder;
    const { structuredContent } = await call(reads, 'list_rules');
    expect(structuredContent).toMatchObject({ items: expect.arrayContaining([{ app, name: null }]) });
    expect(JSON.parse((await call(reads, 'list_rules', { app })).text)).toMatchObject({
      rules: { app },
      clients: { items: [{ state: 'online' }] },
    });
    const wrong = await call(reads, 'describe_inputs', { app });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('ruleId') });
    const text = await call(reads, 'explain_run', { mockId: '00000000-0000-4000-8000-000000000000' });
    expect(text).toMatchObject({ isError: true, structuredContent: undefined });
    expect(text.text).toContain('There is no execution');
  });

  it('cancels a run that the assistant gives up, and says that the input must be an object', async () => {
    await using responder = await appWithClient(() => {});
    const { app } = responder;
    const bad = await call(runs, 'run_rule', { app, ruleId: 1, input: '[1]' });
    expect(bad).toMatchObject({ isError: true, text: 'input must be a JSON object, as text.' });
    const given = new AbortController();
    const run = runs.callTool({ name: 'run_rule', arguments: { app, ruleId: 1 } }, { signal: given.signal });
    await expect.poll(() => responder.found.length, { timeout: 60_000 }).toBe(1);
    given.abort();
    await expect(run).rejects.toThrow();
    await expect
      .poll(async () => JSON.parse((await call(runs, 'find_runs', { app })).text).items, { timeout: 60_000 })
      .toMatchObject([{ state: 'cancelled' }]);
  });

  it.each([
    ['list_rules', { q: 'campaign' }, 'q'],
    ['describe_inputs', { ruleId: 1, lane: 'beta' }, 'lane'],
    ['run_rule', { ruleId: 1, stub: '{}' }, 'stub'],
    ['run_rule', { ruleId: 1, dry: true }, 'dry is not known here; did you mean "dryRun"?'],
    ['find_runs', { offset: 50 }, 'offset'],
    ['explain_run', {}, 'mockId'],
    ['replay', { ruleId: 1, real: true }, 'real'],
    ['test', { ruleId: 1, update: true }, 'update'],
    ['report', { ruleId: 1, comment: true }, 'comment'],
  ])('%s refuses an argument that it does not know, by its name', async (name, given, unknown) => {
    await using responder = await appWithClient();
    expect(await call(runs, name, { app: responder.app, ...given })).toMatchObject({
      isError: true,
      text: expect.stringContaining(unknown),
    });
    expect(responder.found).toEqual([]);
  });

  it.each([['list_rules'], ['describe_inputs'], ['run_rule'], ['find_runs'], ['explain_run']])(
    '%s says what it answers, and answers so for programs too: each number by its value, or as text',
    async (name) => {
      await using responder = await appWithClient();
      const { app } = responder;
      const input = '{"uid":9007199254740993,"cost":120.10,"big":1e400,"n":42}';
      const { mockId } = z
        .object({ mockId: z.string() })
        .parse(JSON.parse((await call(runs, 'run_rule', { app, ruleId: 1, input })).text));
      const given: Record<string, Record<string, unknown>> = {
        ...{ list_rules: { app }, describe_inputs: { app, ruleId: 1 }, run_rule: { app, ruleId: 1, input } },
        ...{ find_runs: { app, where: ['n=42'] }, explain_run: { mockId } },
      };
      const { tools } = await runs.listTools();
      const described = tools.find((each) => each.name === name)?.outputSchema;
      expect(Object.keys(described?.properties ?? {}).length).toBeGreaterThan(0);
      const { isError, text, structuredContent } = await call(runs, name, given[name]);
      expect(isError).toBe(false);
      const asText = text.replaceAll('9007199254740993', '"9007199254740993"').replaceAll('1e400', '"1e400"');
      expect(structuredContent).toEqual(JSON.parse(asText));
      const echoed = ['run_rule', 'find_runs', 'explain_run'].includes(name);
      if (echoed)
        expect(JSON.stringify(structuredContent)).toContain('"uid":"9007199254740993","cost":120.1,"big":"1e400"');
    },
  );

  it('find_runs goes on after the newest runs with the cursor that it gave', async () => {
    await using responder = await appWithClient();
    const { app } = responder;
    const body = JSON.stringify({ app, ruleId: 1, 'the service': {} });
    const headers = { 'content-type': 'application/json' };
    for (let run = 0; run < 52; run++)
      await fetch(`${service.url}/rule-server/mock/execute`, { method: 'POST', headers, body }).then((a) => a.text());
    const first = pageSchema.parse(JSON.parse((await call(reads, 'find_runs', { app, limit: 50 })).text));
    expect(first).toMatchObject({ nextCursor: expect.any(String) });
    const second = await call(reads, 'find_runs', { app, limit: 50, cursor: first.nextCursor });
    const rest = pageSchema.parse(JSON.parse(second.text));
    const ids = [...first.items, ...rest.items].map(({ mockId }) => mockId);
    expect({ count: ids.length, different: new Set(ids).size }).toEqual({ count: 52, different: 52 });
  });

  it('find_runs refuses a cursor that is none', async () => {
    expect(await call(reads, 'find_runs', { cursor: 'neither' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('cursor'),
    });
  });
});
