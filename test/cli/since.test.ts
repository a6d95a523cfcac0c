import { cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { schemaOf } from '../../src/cli/file-schemas.ts';
import { createRuleClient, type Data, describeLeaf, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { runCli } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';
import { startAssistant } from './assistant.ts';

const pageSchema = z.object({ items: z.array(z.looseObject({ mockId: z.string() })) });

class Spend {
  min = 0;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class Quiet extends Spend {}
const leaves = {
  Spend: describeLeaf({ leaf: Spend, comparison: { key: 'cost', is: '>=', field: 'min', missing: 0 } }),
  Quiet,
};

let service: Service;
let client: RuleClient;
/** A client that does not get new rules: it holds version 1. */
let held: RuleClient;
let heldDir: string;
beforeAll(async () => {
  service = await startService({});
  await release(1, { confName: 'Quiet', min: 80 });
  client = await createRuleClient({ app: 7, sharedDir: service.sharedDir, leaves, address: 'own' });
  heldDir = await mkdtemp(join(tmpdir(), 'held-'));
  await cp(join(service.sharedDir, '7'), join(heldDir, '7'), { recursive: true });
  for (const name of ['mock', 'clients']) await symlink(join(service.sharedDir, name), join(heldDir, name));
  held = await createRuleClient({ app: 7, sharedDir: heldDir, lane: 'old', leaves, address: 'held' });
  await release(2, { confName: 'Spend', min: 80 });
  await release(3, { confName: 'Spend', min: 80 });
  await release(4, { confName: 'Spend', min: 100 });
});
afterAll(async () => {
  for (const each of [client, held]) await each?.close();
  await service?.stop();
});

const since = (...line: string[]) => runCli('since', ...line, '--url', service.url);

test('tells the version that changed an outcome, what it changed, and every version that was looked at', async () => {
  const mockId = await run(90);
  const { code, out } = await since(mockId, '--json');
  expect(JSON.parse(out)).toEqual({
    ...{ mockId, outcome: 'FALSE', since: 4, before: 3 },
    versions: [4, 3].map((version) => ({
      ...{ version, outcome: version === 4 ? 'FALSE' : 'TRUE', assumed: [], unknown: [] },
    })),
  });
  expect(code).toBe(0);
  const words = await since(mockId);
  expect(words.out).toContain(
    'It comes to FALSE since version 4.\nVersion 3: TRUE.\nVersion 4 changed #2 Spend (min 80 → 100).',
  );
});

test('guesses nothing of a version whose leaf declares no comparison', async () => {
  const mockId = await run(120);
  const { code, out } = await since(mockId, '--json');
  expect(JSON.parse(out)).toMatchObject({ since: 2, before: 1 });
  expect(JSON.parse(out).versions.at(-1)).toEqual({ version: 1, outcome: null, assumed: [], unknown: ['2'] });
  expect(code).toBe(3);
  expect((await since(mockId, '--release', '2', '--json')).out).toContain('"outcome":"TRUE"');
  expect(await since(mockId, '--release', '1')).toMatchObject({
    code: 3,
    out: expect.stringContaining('cannot be told'),
  });
  expect(await since(mockId, '--release', '9')).toMatchObject({
    code: 3,
    err: expect.stringContaining('no version 9'),
  });
});

test('runs a version that cannot be computed without effects, here or on a client that holds it, if that reproduces the run', async () => {
  const mockId = await run(120);
  const [own, other] = ['leaves.mjs', 'other-leaves.mjs'].map((name) => join(service.sharedDir, name));
  if (!own || !other) throw new Error('two names');
  const leavesThat = (is: string) =>
    `class Spend { min = 0; doFlow(s) { return s.double('cost', 0) ${is} this.min } }\nexport const leaves = { Spend, Quiet: Spend };`;
  await writeFile(own, leavesThat('>='));
  await writeFile(other, leavesThat('<='));
  for (const by of [['--leaves', own], ['--clients']]) {
    const { code, out } = await since(mockId, '--json', ...by);
    const { versions, ...told } = JSON.parse(out);
    expect({ code, told, oldest: versions.at(-1) }).toEqual({
      ...{ code: 0, told: { mockId, outcome: 'TRUE', since: 1, before: null } },
      oldest: { version: 1, outcome: 'TRUE', assumed: [], unknown: [], tried: true },
    });
    expect((await since(mockId, '--release', '1', ...by)).out).toBe(
      'Version 1: TRUE.\nLeaves were run, without effects: 1.\n',
    );
  }
  const { code, out } = await since(mockId, '--json', '--leaves', other);
  const oldest = { version: 1, outcome: null, refused: '2' };
  expect({ code, oldest: JSON.parse(out).versions.at(-1) }).toMatchObject({ code: 3, oldest });
  expect((await since(mockId, '--leaves', other)).out).toContain('they came to something else at “Spend” #2');
});

test('an assistant is told by tools what the commands of these names tell', async () => {
  await using assistant = await startAssistant(service.url, '--allow-run');
  const call = async (name: string, given: object) =>
    (await assistant.callTool({ name, arguments: { ...given } })).structuredContent;
  const mockId = await run(70);
  const saved = await service.call('/rule-server/mock/cases?app=7&ruleId=1', {
    method: 'PUT',
    headers: { 'content-type': 'application/yaml', 'if-none-match': '*' },
    body: 'app: 7\nruleId: 1\ncases:\n  - { name: too little, input: { cost: 90 }, expect: { outcome: "TRUE" } }\n',
  });
  expect(saved.status).toBe(200);
  expect(await call('since', { mockId })).toEqual(JSON.parse((await since(mockId, '--json')).out));
  expect(await call('check', { app: 7, ruleId: 1 })).toMatchObject({ state: 'not-tested', rules: [{ ruleId: 1 }] });
  expect(await call('replay', { app: 7, ruleId: 1, where: ['cost=70'] })).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining('1 (100.0 %) the same'),
  });
  expect(await call('test', { app: 7, ruleId: 1 })).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining('too little'),
  });
  expect(await call('report', { app: 7, ruleId: 1, limit: 1 })).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining('0 of 1 recorded runs would change'),
  });
  const { items } = pageSchema.parse(await call('find_runs', { app: 7, where: ['cost=70'], limit: 1 }));
  expect(items).toMatchObject([{ input: { cost: 70 } }]);
  expect(items[0]).not.toHaveProperty('history');
});

test('a run is one file, which is explained without the service, and shows that somebody changed it', async () => {
  const mockId = await run(90);
  const out = join(service.sharedDir, 'of-support.rule-run.json');
  expect(await runCli('run', 'save', mockId, '--out', out, '--url', service.url)).toMatchObject({ code: 0 });
  const text = await readFile(out, 'utf8');
  expect(new Ajv2020({ strict: false }).validate(JSON.parse(schemaOf('run')), JSON.parse(text))).toBe(true);
  const offline = ['--json', '--url', 'http://127.0.0.1:9'];
  const [told, saved] = [
    await runCli('explain', mockId, '--json', '--url', service.url),
    await runCli('explain', out, ...offline),
  ];
  const { sentences, path, change } = JSON.parse(told.out);
  expect(JSON.parse(saved.out)).toMatchObject({ mockId, sentences, path, change, changed: false });
  await writeFile(out, text.replace('"cost": 90', '"cost": 91'));
  const changed = await runCli('explain', out, ...offline);
  expect({ code: changed.code, changed: JSON.parse(changed.out).changed }).toEqual({ code: 1, changed: true });
  await writeFile(out, '{"format":"another"}');
  expect(await runCli('explain', out)).toMatchObject({ code: 2, err: expect.stringContaining('no saved run') });
});

test('a saved run is run again in process, told whether it is reproduced, and kept as a case', async () => {
  const [file, cases, own, other] = ['r.rule-run.json', 'kept.cases.yaml', 'own.mjs', 'other.mjs'].map((name) =>
    join(service.sharedDir, name),
  );
  if (!file || !cases || !own || !other) throw new Error('four names');
  expect((await runCli('run', 'save', await run(90), '--out', file, '--url', service.url)).code).toBe(0);
  const leavesThat = (is: string) =>
    `export const leaves = { Spend: class { min = 0; doFlow(s) { return s.double('cost', 0) ${is} this.min } } };`;
  await writeFile(own, leavesThat('>='));
  await writeFile(other, leavesThat('<='));
  const again = (leavesOf: string, ...more: string[]) => runCli('test', '--run', file, '--leaves', leavesOf, ...more);
  expect(await again(own)).toMatchObject({ code: 0, out: expect.stringContaining('Reproduced') });
  const differs = await again(other);
  expect(differs).toMatchObject({ code: 1, out: expect.stringContaining('first at #2 Spend') });
  expect(differs.out).toContain('Not reproduced.');
  for (const count of [1, 1]) {
    expect((await runCli('test', '--run', file, '--as-case', cases)).code).toBe(0);
    const ran = await runCli('test', cases, '--leaves', own, '--rules', join(service.sharedDir, '7'));
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(`${count} passed`) });
  }
  await writeFile(file, (await readFile(file, 'utf8')).replace('"cost": 90', '"cost": 190'));
  expect(await again(own)).toMatchObject({ code: 1, err: expect.stringContaining('changed after it was saved') });
  expect(await runCli('test', '--as-case', cases)).toMatchObject({ code: 2, err: expect.stringContaining('--run') });
  expect(await runCli('test', '--run', own, '--leaves', own)).toMatchObject({ code: 2 });
});

test('a dry run has no version since which it decides so', async () => {
  const { err, code } = await since(await run(90, { dryRun: true }));
  expect({ err, code }).toMatchObject({ code: 3, err: expect.stringContaining('dry run') });
});

test('the versions before that of the run are told, although the files no longer tell that of the run', async () => {
  await release(5, { confName: 'Spend', min: 70, update: false });
  const mockId = await run(75);
  await release(6, { confName: 'Spend', min: 60 });
  const { code, out } = await since(mockId, '--json');
  expect({ code, told: JSON.parse(out) }).toMatchObject({ code: 0, told: { mockId, since: 5, before: 4 } });
});

test('of a version whose tree is too large it cannot be told', async () => {
  const shared = Array.from({ length: 16 }, (_, at) => ({
    ...{ id: 100 + at, status: 1, type: 1, sonIds: at < 15 ? `${101 + at},${101 + at}` : '2' },
  }));
  await release(7, { confName: 'Spend', min: 60, others: shared, confId: 100 });
  await release(8, { confName: 'Spend', min: 60 });
  const { code, out } = await since(await run(75));
  expect({ code, out }).toMatchObject({ code: 3, out: expect.stringContaining('its tree is too large') });
  expect(out).toContain('cannot be told: on version 8 it still does');
});

test('a release without an update file ends the search: what was before it is not known', async () => {
  for (const version of [9, 10]) await release(version, { confName: 'Spend', min: 70, update: false });
  const mockId = await run(75);
  const told = async () => {
    const { code, out } = await since(mockId, '--json');
    return { code, told: JSON.parse(out) };
  };
  const atLeast = { code: 0, told: { mockId, since: 10, before: null } };
  expect(await told()).toMatchObject(atLeast);
  await writeFile(join(service.sharedDir, '7/version.txt'), '200');
  expect(await told()).toMatchObject(atLeast);
});

async function run(cost: number, more: Record<string, unknown> = {}): Promise<string> {
  const { json } = await service.execute({
    app: 7,
    ruleId: 1,
    target: 'address:own',
    ...more,
    'the service': { cost },
  });
  expect(json.success, json.error).toBe(true);
  const mockId: string = json.mockId;
  await eventually(async () => {
    const kept = await service.call(`/rule-server/mock/executions/${mockId}?include=tree`);
    expect(kept.json.tree).toMatchObject({ root: { id: 2 } });
  });
  return mockId;
}

type Node = { id: number; [member: string]: unknown };
type Released = { confName: string; min: number; update?: boolean; others?: Node[]; confId?: number };

async function release(version: number, { confName, min, ...more }: Released): Promise<void> {
  const { update: isTold = true, others = [], confId = 2 } = more;
  const folder = join(service.sharedDir, '7');
  for (const name of ['bases', 'confs', 'versions']) await mkdir(join(folder, name), { recursive: true });
  const node: Node = { id: 2, status: 1, type: 5, confName, confField: JSON.stringify({ min }) };
  const rule = { id: 1, app: 7, name: 'gate', status: 1, confId };
  await writeFile(join(folder, 'bases/1.json'), JSON.stringify(rule));
  const nodes = [node, ...others];
  for (const each of nodes) await writeFile(join(folder, `confs/${each.id}.json`), JSON.stringify(each));
  const update = JSON.stringify({ version, insertOrUpdateConfs: nodes, insertOrUpdateBases: [rule] });
  if (isTold) await writeFile(join(folder, 'versions', `${version}_upd.json`), update);
  await writeFile(join(folder, 'version.txt'), String(version));
  if (version > 1)
    await eventually(async () => {
      const { json } = await service.call('/rule-server/mock/clients?app=7');
      expect(json.items).toContainEqual(expect.objectContaining({ loadedVersion: version }));
    });
}
