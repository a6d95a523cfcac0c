import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuleClient, type Data, describeLeaf, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { answersWith, type Behaviour, createResponder, type Responder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';
import { startAssistant } from './assistant.ts';

const OF_100 = [
  expect.stringContaining('cost is 90, min is 100.'),
  'The result would be TRUE with cost = 100. This is computed, not run.',
];
const OF_80 = [
  expect.stringContaining('cost is 90, min is 80.'),
  'The result would be FALSE with cost = 79. This is computed, not run.',
];
const waiting = { for: null as Promise<void> | null };

/** Waits for a release when a test says so: its settings stay those that it began with. */
class Spend {
  min = 0;
  async doFlow(service: Data): Promise<boolean> {
    await waiting.for;
    return Number(service.get('cost')) >= this.min;
  }
}
const leaf = describeLeaf({ leaf: Spend, comparison: { key: 'cost', is: '>=', field: 'min' } });

describe('an assistant that explains runs over a release', () => {
  let service: Service;
  let own: RuleClient;
  let assistant: Awaited<ReturnType<typeof startAssistant>>;
  beforeAll(async () => {
    service = await startService({});
    await release({ version: 1, min: 100 });
    own = await createRuleClient({ app: 7, sharedDir: service.sharedDir, leaves: { 'a.Spend': leaf }, address: 'own' });
    assistant = await startAssistant(service.url);
  });
  afterAll(async () => {
    await assistant?.close();
    await own?.close();
    await service?.stop();
  });

  it('tells the truth of one before it, one that it overtakes, and, after it, of clients with the new rules, with the old ones, and of one that does not say', async () => {
    const before = await run({ at: 'own' });
    const released = Promise.withResolvers<void>();
    waiting.for = released.promise;
    const during = run({ at: 'own' });
    await eventually(async () => expect(await statesOf(service)).toContain('picked-up'));
    await release({ version: 2, min: 80 });
    waiting.for = null;
    released.resolve();
    const after = await run({ at: 'own' });

    expect(await explained(before)).toMatchObject({
      aboutTheTree:
        'This is the tree of version 1, which its client says it ran. It may have changed since. 1 change since: #2 Spend (min 100 → 80).',
      why: { outcome: 'FALSE', sentences: OF_100 },
    });
    expect((await explained(await during)).why.sentences).toEqual(OF_100);
    const { why, aboutTheTree } = await explained(after);
    expect(aboutTheTree).toMatch(/^This is the tree of version 2, which its client says it ran\./);
    expect(why).toMatchObject({ outcome: 'TRUE', sentences: OF_80 });

    const { rules, result } = (await service.call(`/rule-server/mock/executions/${before}`)).json;
    const { process } = result;
    await using _old = await lagging('old', { process, rules: { version: 1, digest: rules.digest } });
    const old = await explained(await run({ at: 'old' }));
    expect(old.aboutTheTree).toMatch(
      /version 1, which its client says it ran\. The released version was already 2 when it was sent\./,
    );
    expect(old.why.sentences).toEqual(OF_100);

    await using _silent = await lagging('silent', { process });
    const silent = await explained(await run({ at: 'silent' }));
    expect(silent.aboutTheTree).toMatch(
      /version 2, which was released\. The client had told that it has version 1: it may have run that one\./,
    );
    expect(silent.why.outcome).toBe('FALSE');
    expect(silent.why.sentences.join(' ')).not.toMatch(/min is|would be/);
  });

  it('tells no settings of a run of a published client that another version overtook, and those of the runs before and after it', async () => {
    await release({ version: 3, min: 100 });
    await run({ at: 'own' }); // its tree tells what the leaf compares
    await using published = await goClient();
    await loaded(published, 3);
    const before = await run({ at: 'published' });
    const released = Promise.withResolvers<void>();
    published.does = answersGo('F', released.promise);
    const running = run({ at: 'published' });
    await eventually(async () => expect(await statesOf(service)).toContain('picked-up'));
    await release({ version: 4, min: 80 });
    released.resolve();
    const during = await running;
    await run({ at: 'own' });
    await loaded(published, 4);
    published.does = answersGo('T');
    const after = await run({ at: 'published' });

    const old = await explained(before);
    expect(old.why.sentences).toEqual(OF_100);
    expect(old.aboutTheTree).toMatch(/^This is the tree as it was when the run was sent\..+\(min 100 → 80\)/);

    const { execution, why, aboutTheTree } = await explained(during);
    expect(execution.rules).toMatchObject({ released: 3, loaded: 3, about: true });
    expect(aboutTheTree).toMatch(
      /version 3, which was released when the run was sent\. Another version was released before its answer came/,
    );
    expect(aboutTheTree).not.toMatch(/min/);
    expect(why).toMatchObject({ outcome: 'FALSE' });
    expect(why.sentences.join(' ')).not.toMatch(/min|would be/i);

    const young = await explained(after);
    expect(young.execution.rules).toEqual({ released: 4, loaded: 4, digest: expect.any(String) });
    expect(young.why.sentences).toEqual(OF_80);
  });

  const goClient = () =>
    createResponder({ sharedDir: service.sharedDir, app: 7, address: 'published', as: 'go', does: answersGo('F') });

  /** The worker knows that this client has loaded this version. */
  async function loaded(client: Responder, version: number): Promise<void> {
    await client.hasLoaded(version);
    await eventually(async () => {
      const { json } = await service.call('/rule-server/mock/clients?app=7');
      expect(json.items).toContainEqual(expect.objectContaining({ address: client.address, loadedVersion: version }));
    });
  }

  const lagging = (address: string, members: Record<string, unknown>) => {
    const does = answersWith((request) => resultText(request, members));
    return createResponder({ sharedDir: service.sharedDir, app: 7, address, does });
  };

  async function run({ at }: { at: string }): Promise<string> {
    const call = { app: 7, ruleId: 1, target: `address:${at}`, 'the service': { cost: 90 } };
    const { json, status } = await service.execute(call);
    expect({ status, success: json.success }, json.error).toEqual({ status: 200, success: true });
    return json.mockId;
  }

  /** What the assistant is told of a run that it found by its input. */
  async function explained(mockId: string) {
    await eventually(async () => {
      const found = await ask(assistant, 'find_runs', { app: 7, where: ['cost=90'] });
      expect(found.items.map((run: { mockId: string }) => run.mockId)).toContain(mockId);
    });
    return ask(assistant, 'explain_run', { mockId });
  }

  async function release({ version, min }: { version: number; min: number }): Promise<void> {
    const folder = join(service.sharedDir, '7');
    for (const name of ['bases', 'confs', 'versions']) await mkdir(join(folder, name), { recursive: true });
    const node = { id: 2, status: 1, type: 5, confName: 'a.Spend', confField: JSON.stringify({ min }) };
    await writeFile(join(folder, 'bases/1.json'), '{"id":1,"app":7,"name":"gate","status":1,"confId":2}');
    await writeFile(join(folder, 'confs/2.json'), JSON.stringify(node));
    const update = JSON.stringify({ version, insertOrUpdateConfs: [node] });
    await writeFile(join(folder, 'versions', `${version}_upd.json`), update);
    await writeFile(join(folder, 'version.txt'), String(version));
  }
});

/** Says nothing of the rules that it ran. */
const answersGo =
  (outcome: 'T' | 'F', when?: Promise<void>): Behaviour =>
  async (request) => {
    await request.pickUp();
    await when;
    const process = `[2:Spend:${outcome}:0]`;
    await request.answer(JSON.stringify({ mockId: request.mockId, success: true, roam: { cost: 90 }, process, ts: 1 }));
  };

async function statesOf(service: Service): Promise<string[]> {
  const { json } = await service.call('/rule-server/mock/executions?app=7');
  return json.items.map(({ state }: { state: string }) => state);
}

async function ask(client: Client, name: string, given: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  expect({ isError: isError ?? false, text }).toMatchObject({ isError: false });
  return JSON.parse(text);
}
