import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRuleClient, type Data, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { gatewayThat } from '../support/gateway.ts';
import { releaseRule } from '../support/release-rule.ts';
import { runCliWith } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const [APP, HIDING] = [7, 8];
const leaves = {
  Spend: class {
    min = 0;
    doFlow(service: Data): boolean {
      service.put('limit', this.min);
      return service.double('cost', 0) >= this.min;
    }
  },
};
const CASES = 'app: 7\nruleId: 1\ncases:\n  - { name: enough, input: { cost: 100 }, expect: { outcome: "TRUE" } }\n';

let service: Service;
let folder: string;
const clients: RuleClient[] = [];
beforeAll(async () => {
  service = await startService({ settings: { MASK: `${HIDING}:card` } });
  folder = await mkdtemp(join(tmpdir(), 'report-'));
  for (const app of [APP, HIDING]) {
    await release(app, 100, 1);
    clients.push(await createRuleClient({ app, sharedDir: service.sharedDir, leaves, heartbeatMs: 250 }));
  }
  for (const cost of [70, 90, 95, 120]) await execute(APP, { cost, name: '*a|b*' });
  await execute(HIDING, { cost: 90, card: '4711-0815' });
  await execute(HIDING, { cost: 90 });
  for (const app of [APP, HIDING]) await release(app, 80, 2);
  await writeFile(join(folder, 'own.cases.yaml'), CASES);
  expect(await cli('cases', 'push', join(folder, 'own.cases.yaml'))).toMatchObject({ code: 0 });
  expect(await cli('test', '--saved', '--app', '7', '--rule-id', '1')).toMatchObject({ code: 0 });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await service?.stop();
});

const cli = (...line: string[]) => runCliWith({ environment: { RULE_SERVER_URL: service.url } }, ...line);
const report = (...line: string[]) => cli('report', '--from', '-24h', ...line);

test('tells what a release changes, with the first node, what changed there and a run; how the cases ran; and whether it can ship', async () => {
  const [out, summary] = [join(folder, 'made/report.md'), join(folder, 'summary.md')];
  await writeFile(summary, 'before\n');
  const environment = { RULE_SERVER_URL: service.url, GITHUB_STEP_SUMMARY: summary };
  expect(await runCliWith({ environment }, 'report', '--app', '7', '--from', '-24h', '--out', out)).toMatchObject({
    code: 0,
    out: expect.stringContaining('is written'),
  });
  const told = await readFile(out, 'utf8');
  expect(await readFile(summary, 'utf8')).toBe(`before\n${told}`);
  expect(told.split('\n')[0]).toBe('<!-- rule-server report: app 7 all -->');
  expect(told).toContain('**4 of 4 recorded runs would change. Can ship: yes.**');
  expect(told).toMatch(
    /- 2 \(50\.0 %\) changed: outcome FALSE → TRUE, .*first at \\#2 Spend \(min 100 → 80\), such as \[/,
  );
  expect(told).toContain('limit 100 → 80');
  expect(told).toContain(String.raw`: \{"cost":95,"name":"\*a\|b\*"\}`);
  const [, link = ''] = /\]\((http[^)]*)\)/.exec(told) ?? [];
  const mockId = new URL(link).searchParams.get('run');
  expect((await service.call(`/rule-server/mock/executions/${mockId}`)).json).toMatchObject({ app: 7, dryRun: false });
  expect(told).toContain('Saved cases, as they last ran: 1 passed.');
});

test('replaces its own comment beside the pull request, and no other one', async () => {
  const calls: [method: string | undefined, path: string | undefined, body: string][] = [];
  const kept = [
    { id: 0, body: 'of an account that is gone', user: null },
    ...Array.from({ length: 98 }, (_, index) => ({ id: index + 1, body: 'LGTM', user: { type: 'User' } })),
    { id: 99, body: '<!-- rule-server report: app 7 all -->', user: { type: 'User' } },
    { id: 100, body: '<!-- rule-server report: app 7 all -->\nold', user: { type: 'Bot' } },
  ];
  await using github = await gatewayThat(async (request, response) => {
    calls.push([request.method, request.url?.split('?')[0], await text(request)]);
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 0);
    response.end(JSON.stringify(page > 0 ? kept.slice((page - 1) * 100, page * 100) : {}));
  });
  await using other = await gatewayThat((_, response) => void response.end('<h1>Log in</h1>'));
  const workflow = {
    ...{ RULE_SERVER_URL: service.url, GITHUB_TOKEN: 'secret' },
    ...{ GITHUB_REPOSITORY: 'acme/rules', GITHUB_REF: 'refs/pull/12/merge' },
  };
  const run = (app: string, url = github.url) =>
    runCliWith({ environment: { ...workflow, GITHUB_API_URL: url } }, 'report', '--comment', '--app', app);
  expect(await run('7')).toMatchObject({ code: 0 });
  expect(calls.at(-1)?.slice(0, 2)).toEqual(['PATCH', '/repos/acme/rules/issues/comments/100']);
  expect(calls.at(-1)?.[2]).toContain('4 of 4 recorded runs');
  expect(await run('8')).toMatchObject({ code: 0 });
  expect(calls.at(-1)?.slice(0, 2)).toEqual(['POST', '/repos/acme/rules/issues/12/comments']);
  expect(await run('8', other.url)).toMatchObject({ code: 1, err: expect.stringContaining('<h1>Log in</h1>') });
  expect(await cli('report', '--app', '7', '--comment')).toMatchObject({
    code: 2,
    err: expect.stringContaining('GITHUB_TOKEN'),
  });
});

test('with --counts it has no value of an input or of the data', async () => {
  const { out, code } = await report('--app', '7', '--counts');
  expect(out).toContain('outcome FALSE → TRUE, data differs, first at \\#2 Spend (min');
  expect(out).not.toMatch(/cost|limit|name/);
  expect(code).toBe(0);
});

test('runs with hidden fields are left out and counted, and what is hidden stands nowhere', async () => {
  const { out } = await report('--app', '8');
  expect(out).toContain('**1 of 1 recorded runs would change. Can ship: no, not tested.**');
  expect(out).toContain('Left out: 1 because fields of its input are hidden.');
  expect(out).not.toContain('4711');
});

test('says which runs could not be made again, and that a rule has none', async () => {
  const gone = await report('--app', '7', '--target', 'lane:nobody');
  expect(gone).toMatchObject({ code: 4, out: expect.stringContaining('lane:nobody') });
  expect(await report('--app', '7', '--to', '2020-01-01', '--from', '2019-01-01')).toMatchObject({
    code: 0,
    out: expect.stringContaining('No run is recorded in this time.'),
  });
  expect(await report('--app', '7', '--from', '-24x')).toMatchObject({ err: expect.stringContaining('from') });
  expect(await report('--app', '9')).toMatchObject({ code: 3, err: expect.stringContaining('no rules') });
});

const release = async (app: number, min: number, version: number): Promise<void> => {
  const node = { type: 5, confName: 'Spend', confField: JSON.stringify({ min }) };
  await releaseRule(service.sharedDir, app, { 1: { type: 1, sonIds: '2' }, 2: node }, version);
  const update = JSON.stringify({ version, insertOrUpdateConfs: [{ id: 2, status: 1, ...node }] });
  await mkdir(join(service.sharedDir, String(app), 'versions'), { recursive: true });
  await writeFile(join(service.sharedDir, String(app), 'versions', `${version}_upd.json`), update);
  if (version > 1)
    await eventually(async () => {
      const { json } = await service.call(`/rule-server/mock/clients?app=${app}`);
      expect(json.items).toContainEqual(expect.objectContaining({ loadedVersion: version }));
    });
};

async function execute(app: number, input: object): Promise<void> {
  const { json } = await service.execute({ app, ruleId: 1, 'the service': input });
  expect(json.success, json.error).toBe(true);
  await eventually(async () => {
    const kept = await service.call(`/rule-server/mock/executions/${json.mockId}?include=tree`);
    expect(kept.json.tree).not.toBeNull();
  });
}
