import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { echoes } from '../support/echoes.ts';
import { createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { startAssistant } from './assistant.ts';

const pageSchema = z.object({ items: z.array(z.object({ mockId: z.string() })), nextCursor: z.string().nullish() });

describe('what an assistant may rely on', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.stop());

  /** An app with one rule and a client that echoes. */
  let apps = 8810;
  async function appWithClient() {
    const app = ++apps;
    const folders = ['bases', 'confs'].map((name) => join(service.sharedDir, String(app), name));
    for (const folder of folders) await mkdir(folder, { recursive: true });
    const [bases, confs] = folders;
    await writeFile(`${bases}/1.json`, `{"id":1,"app":${app},"status":1,"name":"campaign","confId":2}`);
    await writeFile(`${confs}/2.json`, `{"id":2,"app":${app},"status":1,"type":1}`);
    return Object.assign(await createResponder({ sharedDir: service.sharedDir, app, does: echoes() }), { app });
  }

  const assistant = (...parameters: string[]) => startAssistant(service.url, ...parameters);

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

  it('a tool that is off is not listed', async () => {
    await using client = await assistant();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_rules',
      'describe_inputs',
      'check',
      'find_runs',
      'explain_run',
      'since',
    ]);
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
    await using client = await assistant('--allow-run');
    await using responder = await appWithClient();
    expect(await call(client, name, { app: responder.app, ...given })).toMatchObject({
      isError: true,
      text: expect.stringContaining(unknown),
    });
    expect(responder.found).toEqual([]);
  });

  it.each([['list_rules'], ['describe_inputs'], ['run_rule'], ['find_runs'], ['explain_run']])(
    '%s says in its schema that it takes no other arguments',
    async (name) => {
      await using client = await assistant('--allow-run');
      const { tools } = await client.listTools();
      const tool = tools.find((each) => each.name === name);
      expect(tool?.inputSchema).toMatchObject({ additionalProperties: false });
    },
  );

  it.each([['list_rules'], ['describe_inputs'], ['run_rule'], ['find_runs'], ['explain_run']])(
    '%s says what it answers, and answers so for programs too: each number by its value, or as text',
    async (name) => {
      await using client = await assistant('--allow-run');
      await using responder = await appWithClient();
      const { app } = responder;
      const input = '{"uid":9007199254740993,"cost":120.10,"big":1e400,"n":42}';
      const { mockId } = z
        .object({ mockId: z.string() })
        .parse(JSON.parse((await call(client, 'run_rule', { app, ruleId: 1, input })).text));
      const given: Record<string, Record<string, unknown>> = {
        ...{ list_rules: { app }, describe_inputs: { app, ruleId: 1 }, run_rule: { app, ruleId: 1, input } },
        ...{ find_runs: { app, where: ['n=42'] }, explain_run: { mockId } },
      };
      const { tools } = await client.listTools();
      const described = tools.find((each) => each.name === name)?.outputSchema;
      expect(Object.keys(described?.properties ?? {}).length).toBeGreaterThan(0);
      const { isError, text, structuredContent } = await call(client, name, given[name]);
      expect(isError).toBe(false);
      const asText = text.replaceAll('9007199254740993', '"9007199254740993"').replaceAll('1e400', '"1e400"');
      expect(structuredContent).toEqual(JSON.parse(asText));
      const echoed = ['run_rule', 'find_runs', 'explain_run'].includes(name);
      if (echoed)
        expect(JSON.stringify(structuredContent)).toContain('"uid":"9007199254740993","cost":120.1,"big":"1e400"');
    },
  );

  it('the apps are described by the same tool, and a refusal has its sentence alone', async () => {
    await using client = await assistant();
    await using responder = await appWithClient();
    const { structuredContent } = await call(client, 'list_rules');
    expect(structuredContent).toMatchObject({ items: expect.arrayContaining([{ app: responder.app, name: null }]) });
    const refused = await call(client, 'explain_run', { mockId: 'c0ffee00-0000-4000-8000-000000000000' });
    expect(refused).toMatchObject({ isError: true, structuredContent: undefined });
  });

  it('find_runs goes on after the newest runs with the cursor that it gave', async () => {
    await using client = await assistant();
    await using responder = await appWithClient();
    const { app } = responder;
    const body = JSON.stringify({ app, ruleId: 1, 'the service': {} });
    const headers = { 'content-type': 'application/json' };
    for (let run = 0; run < 52; run++)
      await fetch(`${service.url}/rule-server/mock/execute`, { method: 'POST', headers, body }).then((a) => a.text());
    const first = pageSchema.parse(JSON.parse((await call(client, 'find_runs', { app, limit: 50 })).text));
    expect(first).toMatchObject({ nextCursor: expect.any(String) });
    const second = await call(client, 'find_runs', { app, limit: 50, cursor: first.nextCursor });
    const rest = pageSchema.parse(JSON.parse(second.text));
    const ids = [...first.items, ...rest.items].map(({ mockId }) => mockId);
    expect({ count: ids.length, different: new Set(ids).size }).toEqual({ count: 52, different: 52 });
  });

  it('find_runs refuses a cursor that is none', async () => {
    await using client = await assistant();
    expect(await call(client, 'find_runs', { cursor: 'neither' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('cursor'),
    });
  });
});
