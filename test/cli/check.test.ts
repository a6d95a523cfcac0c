import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuleClient, type Data, type RuleClient } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { releaseRule } from '../support/release-rule.ts';
import { runCli } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const APP = 7;
class Spend {
  min = 0;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class Pay {
  doResult(service: Data): boolean {
    service.put('paid', true);
    return true;
  }
}
const of = (min: unknown, pay = 'a.Pay') => ({
  1: { type: 1, sonIds: '2,3' },
  2: { type: 5, confName: 'a.Spend', confField: JSON.stringify({ min }) },
  3: { type: 6, confName: pay },
});
const CASES = `
app: ${APP}
ruleId: 1
cases:
  - { name: enough, input: { cost: 100 }, expect: { outcome: "TRUE" } }
  - { name: too little, input: { cost: 99.99 }, expect: { outcome: "FALSE" } }
`;

describe('rule-server check', () => {
  let service: Service;
  let folder: string;
  const clients: RuleClient[] = [];
  beforeAll(async () => {
    service = await startService({});
    folder = await mkdtemp(join(tmpdir(), 'check-'));
    await releaseRule(service.sharedDir, APP, of(100));
    const where = { app: APP, sharedDir: service.sharedDir, heartbeatMs: 250 };
    clients.push(await createRuleClient({ ...where, lane: 'beta', leaves: { 'a.Spend': Spend, 'a.Pay': Pay } }));
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await service?.stop();
  });

  const cli = (...line: string[]) => runCli(...line, '--url', service.url);
  const check = (target = 'lane:beta') => cli('check', '--app', `${APP}`, '--target', target);
  const runCases = () => cli('test', '--saved', '--app', `${APP}`, '--rule-id', '1', '--target', 'lane:beta');

  it('never says "can ship" of what was not tested on this target, on the rules of now and with the cases of now', async () => {
    expect(await check()).toMatchObject({
      code: 4,
      out: expect.stringContaining('The rule has no saved cases that run.'),
    });
    const file = join(folder, 'a.cases.yaml');
    await writeFile(file, CASES);
    expect((await cli('cases', 'push', file)).code).toBe(0);
    expect((await check()).out).toContain('Its cases did not run on lane:beta yet');
    expect((await runCases()).code).toBe(0);
    expect(await check()).toEqual({
      code: 0,
      out: '#1: can ship\n1 of 1 rules can ship to lane:beta.\n',
      err: '',
    });
    expect((await check('all')).out).toContain('Its cases did not run on all yet');

    await new Promise((resolve) => setTimeout(resolve, 20)); // the time of a file is that of a change after the batch
    await writeFile(file, CASES.replace('too little', 'less'));
    expect((await cli('cases', 'push', file, '--force')).code).toBe(0);
    expect(await check()).toMatchObject({ code: 4, out: expect.stringContaining('Its cases have changed since') });

    expect((await runCases()).code).toBe(0);
    await releaseRule(service.sharedDir, APP, of(90));
    await eventually(async () =>
      expect(await check()).toMatchObject({ code: 4, out: expect.stringContaining('with other rules than are') }),
    );
  });

  it('names what failed, and what no run has to show', async () => {
    await writeFile(join(service.sharedDir, String(APP), 'version.txt'), '2');
    // Until the client has loaded the new rules, some cases run on those of before.
    await eventually(async () => {
      expect((await runCases()).out).toContain('1 failed');
      const said = expect.stringContaining('1 case failed on lane:beta.');
      expect(await check()).toMatchObject({ code: 1, out: said });
    });

    await releaseRule(service.sharedDir, APP, of('many', 'a.Gone'));
    await rm(join(service.sharedDir, String(APP), 'confs/2.json'));
    await eventually(async () => expect((await check()).out).toContain('Node 2 is not released.'));
    const report = join(folder, 'report.xml');
    const { code, out } = await cli('check', '--app', `${APP}`, '--target', 'lane:beta', '--junit', report);
    expect(code).toBe(1);
    expect(out).toContain('A client of lane:beta does not have the class a.Gone.');
    expect(await readFile(report, 'utf8')).toMatch(/<failure message="Node 2 is not released\./);
    await releaseRule(service.sharedDir, APP, of('many'));
    await eventually(async () => expect((await check()).out).toContain('Node 2: min must be double, and is "many".'));
  });

  it('refuses an app or a rule that is not there', async () => {
    expect(await cli('check', '--app', `${APP}`, '--rule-id', '77')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/has no rule 77/),
    });
    expect(await cli('check', '--app', '999')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/App 999 has no rules/),
    });
    expect(await check('lane')).toMatchObject({ code: 2, err: expect.stringMatching(/target/) });
  });
});
