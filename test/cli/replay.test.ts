import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuleClient, type Data, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { releaseRule } from '../support/release-rule.ts';
import { answers, createResponder } from '../support/responder.ts';
import { runCli, runCliWith } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const APP = 7;
const HIDING = 8;
const HISTORY_COUNT = 150;
let paid = 0;

/** A client in a lane may have other code: this one lets more through. */
const leavesOf = (min: number) => ({
  'a.Spend': class {
    doFlow(service: Data): boolean {
      return service.double('cost', 0) >= min;
    }
  },
  'a.Pay': class {
    doResult(): boolean {
      paid++;
      return true;
    }
  },
});
const NODES = {
  1: { type: 1, sonIds: '2,3' },
  2: { type: 5, confName: 'a.Spend' },
  3: { type: 6, confName: 'a.Pay' },
};

describe('rule-server replay', () => {
  let service: Service;
  const clients: RuleClient[] = [];
  const costs = Array.from({ length: 40 }, (_, index) => (index * 37) % 160);
  beforeAll(async () => {
    service = await startService({ settings: { MASK: `${HIDING}:card`, HISTORY_COUNT: String(HISTORY_COUNT) } });
    for (const app of [APP, HIDING]) {
      await releaseRule(service.sharedDir, app, NODES);
      const where = { app, sharedDir: service.sharedDir, heartbeatMs: 250 };
      clients.push(await createRuleClient({ ...where, leaves: leavesOf(100) }));
      clients.push(await createRuleClient({ ...where, lane: 'beta', leaves: leavesOf(80) }));
    }
    for (const cost of costs) expect((await execute(APP, { cost, id: 1 })).status).toBe(200);
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await service?.stop();
  });
  const execute = (app: number, input: object) =>
    service.execute({ app, ruleId: 1, 'the service': input, target: 'all' });

  const replay = (...options: string[]) => command('replay', '--rule-id', '1', ...options);

  const command = (...line: string[]) => runCli(...line, '--url', service.url);

  it('finds exactly the runs that another lane would change, names the node, and has no effects', async () => {
    const changing = costs.filter((cost) => cost >= 80 && cost < 100).length;
    const paying = costs.filter((cost) => cost >= 100).length;
    expect(changing).toBeGreaterThan(2);
    const before = paid;
    const directory = await mkdtemp(join(tmpdir(), 'replay-'));
    const [csv, junit] = [join(directory, 'out.csv'), join(directory, 'out.xml')];
    const { code, out, err } = await replay(
      ...['--app', String(APP), '--target', 'lane:beta', '--csv', csv, '--junit', junit],
    );
    const lines = (await readFile(csv, 'utf8')).trimEnd().split('\r\n');
    expect(lines.filter((line) => /,changed,TRUE,.*actions – → #3; first at #2 Spend/.test(line))).toHaveLength(
      changing,
    );
    expect(await readFile(junit, 'utf8')).toMatch(
      new RegExp(`<testsuites .*tests="40" failures="${changing}" errors="0"`),
    );
    await rm(directory, { recursive: true });
    const [head, ...groups] = out.split('\n');
    expect(head).toMatch(
      new RegExp(
        `^40 runs were made again on lane:beta, without effects: ${40 - changing - paying} \\(.*%\\) the same, ${changing} \\(.*%\\) changed, ${paying} \\(.*%\\) not checked\\.$`,
      ),
    );
    expect(groups[0]).toMatch(
      new RegExp(
        `^${changing} \\(.*%\\) changed: actions – → #3, first at #2 Spend, such as [0-9a-f-]{36} → [0-9a-f-]{36}$`,
      ),
    );
    expect(groups[1]).toContain('not checked: outcome, data (a dry run does not call #3)');
    expect(err).toBe('40 dry runs on lane:beta\n');
    expect({ code, paid }).toEqual({ code: 1, paid: before });
  });

  it('of runs that reach no action, on the same rules all are the same; of others that is not told without effects', async () => {
    const same = await replay('--app', String(APP), '--where', 'cost<100');
    expect(same).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\(100\.0 %\) the same, 0 \(0\.0 %\) changed\.\n$/),
    });
    expect(await replay('--app', String(APP), '--where', 'cost>=100')).toMatchObject({ code: 4 });
    const real = await replay('--app', String(APP), '--where', 'cost>=100', '--real', '--yes');
    expect(real).toMatchObject({ code: 0, out: expect.stringContaining('(100.0 %) the same') });
  });

  it.each(['replay', 'report'])('begins no batch once %s is interrupted during its search', async (name) => {
    const created = async () =>
      Number((await service.call(`/rule-server/mock/batches?app=${APP}&limit=1`)).json.items[0]?.createdAt ?? 0);
    const before = await created();
    const which = ['--rule-id', '1', '--app', String(APP), '--target', 'lane:beta', '--url', service.url];
    // The first request of its search is on its way by then, and cannot be answered yet.
    const onInterrupt = (listener: () => void) => void setImmediate(listener);
    expect(await runCliWith({ onInterrupt }, name, ...which)).toMatchObject({ code: 130 });
    expect(await created()).toBe(before);
  });

  it('as JSON it is the report of its batch: each run with the one it repeats', async () => {
    const { out } = await replay('--app', String(APP), '--target', 'lane:beta', '--limit', '10', '--json');
    const { against, items } = JSON.parse(out);
    expect([against, items.length]).toEqual(['recorded', 10]);
    const { name, mockId } = items[0];
    const ids = await Promise.all([name, mockId].map((id) => service.call(`/rule-server/mock/executions/${id}`)));
    expect(ids.map(({ json }) => json.dryRun)).toEqual([false, true]);
  });

  it('tells which loans are declined and which coupons are others, although the rule is TRUE either way', async () => {
    const app = 9;
    const decide = (to: string) => ({ type: 6, confName: 'a.Decide', confField: JSON.stringify({ to }) });
    await releaseRule(service.sharedDir, app, {
      1: { type: 4, sonIds: '2,8' },
      2: { type: 1, sonIds: '3,9' },
      3: { type: 5, confName: 'a.Income' },
      8: decide('decline'),
      9: decide('approve'),
    });
    const leaves = (min: number, amount: number) => ({
      'a.Income': class {
        doFlow(data: Data): boolean {
          return data.double('income', 0) >= min;
        }
      },
      'a.Decide': class {
        to = '';
        doResult(data: Data): boolean {
          data.put('decision', this.to);
          data.put('coupon', { amount });
          return true;
        }
      },
    });
    const where = { app, sharedDir: service.sharedDir, heartbeatMs: 250 };
    clients.push(await createRuleClient({ ...where, leaves: leaves(25, 20) }));
    clients.push(await createRuleClient({ ...where, lane: 'beta', leaves: leaves(60, 25) }));
    for (const income of [10, 30, 40, 70]) expect((await execute(app, { income })).json.success).toBe(true);

    const dry = await replay('--app', String(app), '--target', 'lane:beta');
    expect(dry.code).toBe(1);
    expect(dry.out).toContain('0 (0.0 %) the same, 2 (50.0 %) changed, 2 (50.0 %) not checked.');
    expect(dry.out).toContain('2 (50.0 %) changed: actions #9 → #8, first at #3 Income, such as');

    const real = await replay('--app', String(app), '--target', 'lane:beta', '--real');
    expect(real.code).toBe(1);
    expect(real.out).toContain('0 (0.0 %) the same, 4 (100.0 %) changed.');
    expect(real.out).toContain('2 (50.0 %) changed: coupon.amount 20 → 25, such as');
    expect(real.out).toContain(
      '2 (50.0 %) changed: actions #9 → #8, decision "approve" → "decline", coupon.amount 20 → 25, first at #3 Income',
    );

    const lanes = {
      app,
      ruleId: 1,
      targets: ['all', 'lane:beta'],
      against: 'all',
      cases: [{ 'the service': { income: 70 } }],
    };
    expect((await runOf(lanes)).json.targets).toMatchObject([{ counts: { ran: 1 } }, { counts: { changed: 1 } }]);
  });

  it('what is other at every run is noise where its rules still run, and nothing where the saved cases ignore it', async () => {
    const app = 10;
    const stamping = (version: number) => {
      const nodes = {
        1: { type: 1, sonIds: '2,4' },
        2: { type: 5, confName: 'a.Stamp', confField: JSON.stringify({ name: `version ${version}` }) },
        4: { type: 1, sonIds: '5,6' },
        5: { type: 5, confName: 'a.Spend' },
        6: { type: 6, confName: 'a.Pay' },
      };
      return releaseRule(service.sharedDir, app, nodes, version);
    };
    await stamping(1);
    const leaves = (large: number) => ({
      ...leavesOf(200),
      'a.Stamp': class {
        name = '';
        doFlow(data: Data): boolean {
          data.put('stamp', randomUUID());
          data.put('amount', data.double('cost', 0) >= 100 ? large : 20);
          return true;
        }
      },
    });
    const where = { app, sharedDir: service.sharedDir, heartbeatMs: 250 };
    clients.push(await createRuleClient({ ...where, leaves: leaves(20) }));
    clients.push(await createRuleClient({ ...where, lane: 'beta', leaves: leaves(25) }));
    for (const cost of [10, 30, 100, 250]) expect((await execute(app, { cost })).json.success).toBe(true);
    const before = paid;

    const beta = await replay('--app', String(app), '--target', 'lane:beta');
    expect(beta.code).toBe(1);
    expect(beta.out).toContain(
      '0 (0.0 %) the same, 1 (25.0 %) changed, 2 (50.0 %) noise, 1 (25.0 %) not checked.\n1 (25.0 %) changed: amount 20 → 25, such as',
    );
    expect((await replay('--app', String(app), '--where', 'cost<200')).code).toBe(0);
    expect(paid).toBe(before);

    // Where a node acted, only another real run could tell: it is not made.
    const real = await replay('--app', String(app), '--where', 'cost>=200', '--real');
    expect(real.out).toContain('1 (100.0 %) changed: stamp');
    expect(paid).toBe(before + 1);

    await stamping(2);
    await eventually(async () => {
      const { code, out } = await replay('--app', String(app), '--where', 'cost<200');
      expect([code, out]).toEqual([1, expect.stringContaining('0 (0.0 %) the same, 3 (100.0 %) changed.')]);
    });

    const body = JSON.stringify({ ignore: ['stamp'], cases: [{ name: 'any', input: {} }] });
    const headers = { 'content-type': 'application/json', 'if-none-match': '*' };
    await service.call(`/rule-server/mock/cases?app=${app}&ruleId=1`, { method: 'PUT', headers, body });
    const ignoring = await replay('--app', String(app), '--where', 'cost<200');
    expect(ignoring).toMatchObject({ code: 0, out: expect.stringContaining('3 (100.0 %) the same') });
  });

  it('makes no run again whose input has hidden fields, or in which one node ran alone, and counts it', async () => {
    await execute(HIDING, { cost: 1, card: '4711-0815' });
    await execute(HIDING, { cost: 1 });
    await service.execute({ app: HIDING, ruleId: 1, dryRun: true });
    await service.execute({ app: HIDING, ruleId: 1, confId: 2, 'the service': { cost: 1 } });
    const { out, code } = await replay('--app', String(HIDING), '--target', 'lane:beta');
    expect(out).toContain('1 run was made again');
    expect(out).toMatch(
      /Left out: 1 because only a part of the rule ran, 1 because it was a dry run, 1 because fields of its input are hidden\./,
    );
    expect(code).toBe(0);
    const json = JSON.parse((await replay('--app', String(HIDING), '--target', 'lane:beta', '--json')).out);
    expect(json.setAside).toMatchObject({ cases: 3, errors: [{ field: 'recorded' }, {}, {}] });
    const { mockId } = (await service.execute({ app: HIDING, ruleId: 1, dryRun: true })).json;
    const body = JSON.stringify({ app: HIDING, ruleId: 1, recorded: [json.items[0].name, mockId] });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'once' };
    const post = () => service.call('/rule-server/mock/batches', { method: 'POST', headers, body });
    const [first, again] = [await post(), await post()];
    expect(first.json.setAside.cases).toBe(1);
    expect(again.json).toMatchObject({ batchId: first.json.batchId, setAside: first.json.setAside });
  });

  it.each([
    [{ targets: ['client:*', 'lane:beta'], against: 'client:*' }],
    [{ targets: ['all'], against: 'all' }],
    [{ targets: ['all', 'lane:beta'], against: 'lane:gamma' }],
  ])('a target that is none of several is nothing to compare with: %j', async (how) => {
    const body = JSON.stringify({ app: APP, ruleId: 1, ...how, cases: [{ 'the service': { cost: 1 } }] });
    const { status, json } = await service.call('/rule-server/mock/batches', { method: 'POST', body });
    expect([status, json.errors]).toMatchObject([400, [{ field: 'against' }]]);
  });

  async function runOf(request: object) {
    const taken = await service.call('/rule-server/mock/batches', { method: 'POST', body: JSON.stringify(request) });
    return eventually(async () => {
      const answer = await service.call(String(taken.headers.location));
      expect(answer.json.state).toBe('finished');
      return answer;
    });
  }

  it.each([
    [['--app', '7', '--where', 'cost=-1'], /The search finds no run/],
    [['--app', '7', '--limit', '0'], /--limit/],
    [['--ap', '7'], /unknown option/],
  ])('%j is refused, and nothing runs', async (options, sentence) => {
    const before = paid;
    expect(await replay(...options)).toMatchObject({ code: 2, err: expect.stringMatching(sentence) });
    expect(paid).toBe(before);
  });

  it('is refused where no client of the target can run without effects, and says how it would be real', async () => {
    const does = answers();
    await using old = await createResponder({ sharedDir: service.sharedDir, app: APP, lane: 'old', does });
    const { code, err } = await replay('--app', String(APP), '--target', 'lane:old', '--limit', '3');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/no client of lane:old can.*--real/) });
    expect(old.found).toEqual([]);
    expect((await replay('--app', String(APP), '--target', 'lane:old', '--limit', '3', '--real')).err).toMatch(
      /^3 real runs on lane:old/,
    );
    expect(old.found).toHaveLength(3);
  });

  it('cases record: a case for each way through the tree, exact to the digit, that passes on the same rules', async () => {
    const exact = '{"cost":120.10,"id":9007199254740993,"text":"\\ud83d\\ude00: - #"}';
    const body = `{"app":${APP},"ruleId":1,"the service":${exact}}`;
    const headers = { 'content-type': 'application/json' };
    expect((await service.call('/rule-server/mock/execute', { method: 'POST', body, headers })).status).toBe(200);
    const directory = await mkdtemp(join(tmpdir(), 'record-'));
    const out = join(directory, 'recorded.cases.yaml');
    const record = (...options: string[]) =>
      command('cases', 'record', '--app', String(APP), '--rule-id', '1', '--out', out, ...options);

    const first = await record();
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain(`${out} is written: 2 cases from 41 runs that took 2 ways through the tree.`);
    const text = await readFile(out, 'utf8');
    const free = costs.filter((cost) => cost < 100).length;
    expect(text).toContain(`cases:\n  # ${free} runs took this way\n  - name: "FALSE, run `);
    expect(text).toContain(`    input: ${exact}\n`);
    expect(text).toMatch(/expect: \{"outcome":"TRUE","actions":\[\d/);
    expect(await command('test', out)).toMatchObject({ code: 0, out: expect.stringContaining('2 passed') });

    expect(await record()).toMatchObject({ code: 1, err: expect.stringContaining('is there already') });
    expect(await readFile(out, 'utf8')).toBe(text);
    const every = await record('--force', '--every', '--where', 'cost>=100', '--json');
    const paying = costs.filter((cost) => cost >= 100).length + 1; // items of batches are no runs of their own
    expect(JSON.parse(every.out)).toEqual({ out, cases: paying, runs: paying, ways: 1, skipped: {} });
    expect((await readFile(out, 'utf8')).match(/- name:/g)).toHaveLength(paying);
    expect(await record('--force', '--where', 'cost=-1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('No run can become a case'),
    });
  });

  it('compares with a run that is kept only because it is pinned', async () => {
    const { mockId } = (await execute(APP, { cost: 5 })).json;
    expect((await service.call(`/rule-server/mock/executions/${mockId}/pin`, { method: 'PUT' })).status).toBe(204);
    for (let cost = 0; cost < HISTORY_COUNT; cost++) await execute(APP, { cost: 1 });
    const { json } = await runOf({ app: APP, ruleId: 1, targets: ['all'], recorded: [mockId] });
    expect(json.targets).toMatchObject([{ counts: { same: 1 } }]);
  });
});
