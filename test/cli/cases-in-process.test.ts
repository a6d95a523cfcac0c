import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeDemoRules } from '../../src/client/demo/write-rules.ts';
import { DEMO_APP, startDemoClient } from '../../src/client/demo.ts';
import { otherProblems } from '../shared/reports/junit-schema.ts';
import { runCli } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEMO = join(ROOT, 'examples/demo.cases.yaml');
let folder: string;
let rules: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'in-process-'));
  await writeDemoRules(folder, DEMO_APP);
  rules = join(folder, String(DEMO_APP));
});

const write = async (name: string, text: string) => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};
const leavesOf = (name: string, exported = 'leaves') =>
  write(
    `${name}-${exported}.ts`,
    `import { ${name} } from ${JSON.stringify(join(ROOT, 'src/client/demo/leaves.ts'))};\n` +
      (exported === 'default' ? `export default ${name};\n` : `export const ${exported}: object = ${name};\n`),
  );
const test = async (leaves: string, ...line: string[]) => runCli('test', '--leaves', leaves, '--rules', rules, ...line);

/** A report without what is other at each run. */
const steady = (xml: string): string =>
  xml
    .replace(/ (time|timestamp)="[^"]*"/g, '')
    .replace(/rule server batch [^"]*/g, '')
    .replaceAll(/on (this process|all|lane:beta)/g, 'on it');

describe('cases without a service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ settings: {} });
  });
  afterAll(() => service.stop());

  it('come to the same verdicts, exit codes and JUnit as on a live client', async () => {
    const demo = await startDemoClient({ sharedDir: service.sharedDir, onError: () => {} });
    try {
      for (const [leaves, target] of [
        ['betaLeaves', 'lane:beta'],
        ['demoLeaves', 'all'],
      ] as const) {
        const [here, there] = [join(folder, 'here.xml'), join(folder, 'there.xml')];
        const inProcess = await test(await leavesOf(leaves), DEMO, '--junit', here);
        const live = await runCli('test', DEMO, '--target', target, '--junit', there, '--url', service.url);
        expect(inProcess.code).toBe(live.code);
        expect(inProcess.code).toBe(target === 'all' ? 1 : 0);
        const xml = await readFile(here, 'utf8');
        expect(await otherProblems(xml)).toEqual([]);
        expect(steady(xml)).toBe(steady(await readFile(there, 'utf8')));
        expect(inProcess.out.replace(/in \d+\.\d+ s.*|\(this process\)/g, '')).toBe(
          live.out.replace(/in \d+\.\d+ s.*|\(all\)/g, ''),
        );
      }
    } finally {
      await demo.close();
    }
  });
});

it('names no service: nothing is asked for at the URL', async () => {
  const { code, out, err } = await test(await leavesOf('betaLeaves'), DEMO, '--url', 'http://127.0.0.1:1');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/4 passed.* \(in process\)\n$/);
});

it('takes the default export, keeps exact numbers, and skips and stops as the service does', async () => {
  const document = await write(
    'own.cases.yaml',
    [
      'app: 9001',
      'ruleId: 1',
      'cases:',
      '  - name: later',
      '    skip: true',
      '    input: {}',
      '  - name: exact',
      '    input: { uid: 9007199254740993, cost: 99999999999999999999.10 }',
      '    expect: { data: { uid: 9007199254740992 } }',
      '  - name: not any more',
      '    input: {}',
      '',
    ].join('\n'),
  );
  const leaves = await leavesOf('demoLeaves', 'default');
  const { code, out } = await test(leaves, document, '--bail', '--json');
  const [batch] = JSON.parse(out).batches;
  expect(code).toBe(1);
  expect(batch.counts).toMatchObject({ failed: 1, skipped: 2, passed: 0 });
  expect(out).toContain('"expected":"9007199254740992","actual":"9007199254740993"');
  expect(batch.items[2]).toMatchObject({ reason: 'enough-failures', params: { failures: 1 } });
  expect((await test(leaves, document, '--update')).code).toBe(0);
  expect(await readFile(document, 'utf8')).toContain('{ data: { uid: 9007199254740993 } }');
});

it('without effects it does not tell what follows from a node that it does not call', async () => {
  const document = await write(
    'dry.cases.yaml',
    'app: 9001\nruleId: 1\ncases:\n  - name: dry\n    input: { cost: 200 }\n    expect: { outcome: TRUE, absent: [coupon] }\n',
  );
  expect((await test(await leavesOf('demoLeaves'), document, '--dry-run')).code).toBe(4);
  expect((await test(await leavesOf('demoLeaves'), document)).code).toBe(1);
});

it.each([
  [['--leaves', 'x.ts'], 'give both'],
  [['--rules', 'x'], 'give both'],
  [['--leaves', 'nowhere.ts', '--rules', '.'], '--leaves: nowhere.ts cannot be loaded'],
  [['--leaves', 'x.ts', '--rules', 'nowhere'], '--rules: there is no directory nowhere'],
  [['--leaves', 'x.ts', '--rules', '.', '--target', 'all'], "'--leaves <module>' cannot be used with option '--target"],
])('%j ends with 2 and says why', async (line, message) => {
  const { code, err } = await runCli('test', DEMO, ...line);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

it('says what a module without leaves has to export, and what is wrong with the rules', async () => {
  const empty = await write('empty.ts', 'export const nothing = 1;\n');
  expect((await test(empty, DEMO)).err).toContain('exports no leaves: export what createRuleClient is given');
  await mkdir(join(folder, 'bare', 'bases'), { recursive: true });
  await writeFile(join(folder, 'bare', 'bases', '1.json'), '{"id":1,"status":1,"confId":7}');
  const bare = await runCli(
    ...['test', '--leaves', await leavesOf('demoLeaves'), '--rules', join(folder, 'bare'), DEMO],
  );
  expect([bare.code, bare.err]).toEqual([1, expect.stringContaining('rule 1 cannot run: its root 7 is missing')]);
});
