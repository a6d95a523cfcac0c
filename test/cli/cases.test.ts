import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startDemoClient } from '../../src/client/demo.ts';
import { otherProblems } from '../shared/reports/junit-schema.ts';
import { answers, answersWith, createResponder, resultText, staysSilent } from '../support/responder.ts';
import { type How, interruptedAfter, runCliWith } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const BIN = join(import.meta.dirname, '../../bin/rule-server.js');
const DEMO = join(import.meta.dirname, '../../examples/demo.cases.yaml');

describe('the command line, with cases,', () => {
  let service: Service;
  let demo: Awaited<ReturnType<typeof startDemoClient>>;
  let folder: string;
  beforeAll(async () => {
    service = await startService({
      settings: { RESULT_TIMEOUT_MS: 30_000, CLIENT_TIMEOUT_MS: 30_000 },
      leavesFiles: true,
    });
    demo = await startDemoClient({ sharedDir: service.sharedDir, onError: () => {} });
    folder = await mkdtemp(join(tmpdir(), 'rule-server-cases-'));
  });
  afterAll(async () => {
    await demo?.close();
    await service?.stop();
  });

  /** Against the service, unless the environment says another one. */
  const command = async (line: string[], how: How = {}) => {
    const environment = { RULE_SERVER_URL: service.url, ...how.environment };
    const { code, ...texts } = await runCliWith({ ...how, environment }, ...line);
    return { exitCode: code, ...texts };
  };
  const file = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };

  it('makes the folder of a report, and refuses a path that cannot be written before anything runs', async () => {
    await using client = await service.clientThat(answers({ process: '[1:A:T:0]' }));
    const csv = await file('reports.csv', 'uid\n1\n');
    const target = ['--app', String(client.app), '--rule-id', '1'];
    const out = join(folder, 'made', 'for', 'it', 'out.csv');
    expect(await command(['batch', '--csv', csv, ...target, '--out', out])).toMatchObject({ exitCode: 0 });
    expect(await readFile(out, 'utf8')).toContain('row 1');
    const cases = await file(
      'reports.cases.yaml',
      `app: ${client.app}\nruleId: 1\ncases:\n  - name: a\n    input: {}\n`,
    );
    const directory = join(folder, 'directory.csv');
    await mkdir(directory);
    for (const bad of [join(csv, 'below-a-file.csv'), directory])
      for (const line of [
        ['batch', '--csv', csv, ...target, '--out', bad],
        ['test', cases, '--junit', bad],
        ['replay', ...target, '--junit', bad],
        ['replay', ...target, '--csv', bad],
        ['check', '--app', String(client.app), '--junit', bad],
        ['cases', 'record', ...target, '--out', bad],
      ]) {
        const { exitCode, err } = await command(line);
        expect([line[0], exitCode, err]).toEqual([
          line[0],
          2,
          expect.stringMatching(/cannot be written: .*Nothing ran/),
        ]);
      }
    for (const line of [
      ['test', cases, '--junit'],
      ['replay', ...target, '--csv'],
    ])
      expect(await command([...line, '-'])).toMatchObject({
        exitCode: 2,
        err: expect.stringContaining('must be a file'),
      });
    expect(client.found).toHaveLength(1);
  });

  it('passes the cases of the demo on lane beta, and shows on the trunk which differ, where and how', async () => {
    const junit = join(folder, 'out.xml');
    const beta = await command(['test', DEMO, '--target', 'lane:beta']);
    expect([beta.exitCode, beta.out]).toEqual([0, expect.stringContaining('4 passed')]);
    expect(beta.err).toContain('4 real runs on lane:beta; may call coupon of 20, a point for every 10, spring bonus');
    const both = await command(['test', DEMO, '--target', 'all', '--target', 'lane:beta', '--junit', junit], {
      tty: true,
    });
    expect(both.exitCode).toBe(1);
    expect(both.out).toContain(
      `FAILED  ${DEMO}:8  spends 120 in Berlin and gets a coupon of 25  (all)\n    data.coupon.amount differs\n      - expected  25\n      + found     20\n`,
    );
    expect(both.out).toContain('6 passed, 2 failed');
    expect(both.err).toContain('8/8');
    const xml = await readFile(junit, 'utf8');
    expect(await otherProblems(xml)).toEqual([]);
    expect(xml).toContain(`file="${DEMO}" line="8"`);
  });

  it('annotates the lines of a pull request on GitHub, and prints everything as JSON for programs', async () => {
    const github = await command(['test', DEMO, '--filter', 'RELEASE'], { environment: { GITHUB_ACTIONS: 'true' } });
    expect(github.out).toContain(
      `::error file=${DEMO},line=8,title=spends 120 in Berlin and gets a coupon of 25 (all)::data.coupon.amount differs: expected 25, found 20\n`,
    );
    const json = await command(['test', DEMO, '--json']);
    const { batches } = JSON.parse(json.out);
    expect([json.exitCode, batches.length, batches[0].counts.failed, batches[0].items.length]).toEqual([1, 1, 2, 4]);
    const escaped = await file(
      'odd.cases.yaml',
      `app: 9001\nruleId: 1\ncases:\n  - name: "a,b: 100%\\nc"\n    input: {cost: 1}\n    expect: {outcome: TRUE}\n`,
    );
    const odd = await command(['test', escaped], { environment: { GITHUB_ACTIONS: 'true' } });
    expect(odd.out).toContain('title=a%2Cb%3A 100%25%0Ac (all)::outcome differs');
  });

  it('updates what is expected already and differs, in place, and nothing else', async () => {
    const text = await readFile(DEMO, 'utf8');
    const own = await file('own.cases.yaml', `${text}    # the end\n`);
    const updated = await command(['test', own, '--update']);
    expect(updated.exitCode).toBe(0);
    expect(await readFile(own, 'utf8')).toBe(`${text.replaceAll('amount: 25', 'amount: 20')}    # the end\n`);
    const two = await file('two.cases.yaml', text);
    const both = await command(['test', two, '--update', '--target', 'all', '--target', 'lane:beta']);
    expect([both.exitCode, both.err]).toEqual([1, expect.stringContaining('targets disagree')]);
    expect(await readFile(two, 'utf8')).toBe(text);
  });

  it('writes numbers to the digit when it updates, lists whole, and nothing after an error', async () => {
    const data = '{"n":9007199254740993,"big":1e400,"list":[{"a":1},{"a":0.10}],"more":1}';
    await using client = await service.clientThat(
      answersWith((request) => {
        if (request.text.includes('"fails":true')) return resultText(request).replace('"error":null', '"error":"no"');
        return resultText(request).replace('{}', data).replace('[1:Demo:T:0]', '[4:a:T:0]');
      }),
    );
    const before = `app: ${client.app}
ruleId: 1
cases:
  - name: one
    expect:
      data: { n: 9007199254740992, big: 1, list: [{a: 1}, {a: 2}] }   # kept
  - name: approximately
    expect: { data: { n: { $approx: 1, $by: 1 } } }
  - name: absent
    expect: { absent: [more], data: { n: 1 } }
  - name: fails
    input: { fails: true }
    expect: { data: { n: 1 } }
`;
    const path = await file('exact.cases.yaml', before);
    const { exitCode, err } = await command(['test', path, '--update']);
    expect(exitCode).toBe(1);
    expect(err).toContain('updated  one\n');
    expect(err).toMatch(/left {5}approximately: data\.n differs by more than is allowed/);
    expect(err).toMatch(/left {5}absent: /);
    expect(err).toMatch(/left {5}fails: it has no result on all \(error\)/);
    expect(await readFile(path, 'utf8')).toBe(
      before.replace(
        '{ n: 9007199254740992, big: 1, list: [{a: 1}, {a: 2}] }',
        '{ n: 9007199254740993, big: 1e400, list: [{"a":1},{"a":0.10}] }',
      ),
    );
  });

  it('ends with 4 when something is not answered, and with 1 when something failed besides', async () => {
    await using hasty = await startService({ settings: { RESULT_TIMEOUT_MS: 1500 } });
    const environment = { RULE_SERVER_URL: hasty.url };
    await using _client = await createResponder({ sharedDir: hasty.sharedDir, app: 1, does: staysSilent });
    await using _failing = await createResponder({ sharedDir: hasty.sharedDir, app: 2, does: answers() });
    const silent = await file('silent.cases.yaml', 'app: 1\nruleId: 1\ncases: [{ name: a }]\n');
    const failing = 'app: 2\nruleId: 1\ncases: [{ name: a, expect: { data: { n: 1 } } }]\n';
    const one = await command(['test', silent], { environment });
    expect([one.exitCode, one.out]).toEqual([
      4,
      expect.stringMatching(/UNANSWERED .*a {2}\(all\)\n {4}not-picked-up: /),
    ]);
    const both = await command(['test', silent, await file('failing.cases.yaml', failing)], { environment });
    expect(both.exitCode).toBe(1);
  });

  it('ends with 2 when there is nothing to run, or something is wrong; with the line', async () => {
    const bad = await file('bad.cases.yaml', 'app: 9001\nruleId: 1\ncases:\n  - name: a\n    input: { n: 012 }\n');
    const none = await file('none.cases.yaml', 'app: 9001\nruleId: 1\ncases: []\n');
    const many = Array.from({ length: 101 }, (_, n) => `  - name: case ${n}\n    input: { cost: ${n} }\n`).join('');
    const large = await file('large.cases.yaml', `app: 9001\nruleId: 1\ncases:\n${many}`);
    for (const [parameters, says] of [
      [[bad], /bad\.cases\.yaml:5: cases\[0\]\.input\.n is a number JSON does not know/],
      [[none], /There is no case to run/],
      [[DEMO, '--filter', 'nothing'], /no case with "nothing"/],
      [[join(folder, 'nowhere.yaml')], /cannot be read/],
      [[], /Give a file of cases/],
      [['--saved'], /--saved runs the cases saved/],
      [[DEMO, '--target', 'lane:'], /targets\[0\]/],
      [[large], /101 real runs on all.*add --yes/],
    ] as const) {
      const { exitCode, err } = await command(['test', ...parameters]);
      expect([exitCode, err]).toEqual([2, expect.stringMatching(says)]);
    }
    const unknown = await command(['test', '--saved', '--app', '9001', '--rule-id', '77']);
    expect([unknown.exitCode, unknown.err]).toEqual([3, expect.stringMatching(/No cases are saved for rule 77/)]);
    expect((await command(['test', large, '--yes', '--bail', '--concurrency', '20'])).exitCode).toBe(0);
    expect((await command(['test', DEMO], { environment: { RULE_SERVER_URL: 'http://127.0.0.1:9' } })).exitCode).toBe(
      8,
    );
  });

  it('cancels the batch at Ctrl-C and ends with 130', async () => {
    await using client = await service.clientThat(staysSilent);
    const path = await file('long.cases.yaml', `app: ${client.app}\nruleId: 1\ncases: [{ name: a }, { name: b }]\n`);
    const { exitCode, err } = await command(['test', path], interruptedAfter(client.firstRequest()));
    expect([exitCode, err]).toEqual([130, expect.stringMatching(/Batch [\w-]+ is being cancelled/)]);
    const [, batchId] = /Batch ([\w-]+)/.exec(err) ?? [];
    await vi.waitFor(
      async () => expect((await service.call(`/rule-server/mock/batches/${batchId}`)).json.state).toBe('cancelled'),
      { timeout: 60_000 },
    );
  });

  it('proposes what to ignore, and then ignores it', async () => {
    let runs = 0;
    await using client = await service.clientThat(
      answersWith((request) => {
        const data = { coupon: { id: ++runs, amount: 20 }, items: [{ at: runs }, { at: -runs }] };
        const process = request.text.includes('"unsteady"') && runs % 2 === 0 ? '[1:Demo:F:0]' : '[1:Demo:T:0]';
        return resultText(request, { 'the service': data, process });
      }),
    );
    const head = `app: ${client.app}\nruleId: 1\n`;
    const cases = 'cases:\n  - name: one\n    expect: { data: { coupon: { id: 1, amount: 20 } } }\n';
    const path = await file('noise.cases.yaml', head + cases);
    const proposed = await command(['test', path, '--propose-ignore']);
    expect(proposed.exitCode).toBe(0);
    expect(proposed.err).toMatch(/^2 real runs on all/);
    const [title, ...lines] = proposed.out.trimEnd().split('\n');
    expect(title).toMatch(/^# .*noise\.cases\.yaml \(app \d+ rule 1\)$/);
    expect(lines).toEqual(['ignore:', '  - "coupon.id"', '  - "items[*].at"']);

    expect((await command(['test', path])).exitCode).toBe(1);
    const ignoring = await file('quiet.cases.yaml', `${head}${lines.join('\n')}\n${cases}`);
    expect((await command(['test', ignoring])).exitCode).toBe(0);
    expect((await command(['test', ignoring, '--propose-ignore'])).out).toContain('no other data was different');

    expect((await command(['test', path, '--propose-ignore', '--update'])).exitCode).toBe(2);
    const unsteady = await file('unsteady.cases.yaml', `${head}cases:\n  - { name: u, input: { is: unsteady } }\n`);
    expect((await command(['test', unsteady, '--propose-ignore'])).out).toMatch(
      /# u came to (TRUE, then to FALSE|FALSE, then to TRUE): this is no noise/,
    );
  });

  it('runs a CSV file without expectations and writes what came of it', async () => {
    await using client = await service.clientThat(answers({ 'the service': { coupon: 1 } }));
    const csv = await file('users.csv', 'name,user.id\n=1+1,a\nb,\n');
    const out = join(folder, 'results.csv');
    const parameters = ['batch', '--csv', csv, '--app', String(client.app), '--rule-id', '1', '--target', 'client:*'];
    const ran = await command([...parameters, '--out', out]);
    expect([ran.exitCode, ran.out]).toEqual([0, expect.stringContaining('2 ran')]);
    const lines = (await readFile(out, 'utf8')).split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^1,'=1\+1,address:/);
    expect(lines[1]).toMatch(/"\{""coupon"":1\}"$/);
    expect((await command([...parameters, '--out', 'results.txt'])).exitCode).toBe(2);
    const bad = await file('bad.csv', 'a,a\n1,2\n');
    expect((await command(['batch', '--csv', bad, '--app', '1', '--rule-id', '1'])).err).toContain('gives "a" twice');
    const nowhere = await command([...parameters, '--time-zone', 'Mars']);
    expect([nowhere.exitCode, nowhere.err]).toEqual([2, expect.stringContaining('--time-zone Mars is not the name')]);
    const part = await file('part.csv', 'name,asOf\na,2026-03-15 12:00\nb,soon\n');
    const skipped = await command([...parameters.with(2, part), '--skip-invalid', '--time-zone', 'Asia/Shanghai']);
    expect([skipped.exitCode, skipped.out]).toEqual([0, expect.stringContaining('1 ran')]);
    expect(skipped.err).toMatch(
      /part\.csv: 1 row is set aside; the others run\.\n {2}asOf is not a time .+, line 3\)\n/,
    );
  });

  it('moves cases between a repository and the service, and loses neither', async () => {
    const text = (name: string) => `app: 9001\nruleId: 88\ncases:\n  - name: ${name} # here\n`;
    const path = await file('pushed.cases.yaml', text('one'));
    expect((await command(['cases', 'push', path])).exitCode).toBe(0);
    expect((await command(['cases', 'push', path])).out).toContain('what is saved already');
    await file('pushed.cases.yaml', text('two'));
    const refused = await command(['cases', 'push', path]);
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringMatching(/differ in:\n {2}one\n {2}two/)]);
    const pull = ['cases', 'pull', '--app', '9001', '--rule-id', '88', '--out', path];
    expect((await command(pull)).exitCode).toBe(1);
    expect(await readFile(path, 'utf8')).toBe(text('two'));
    expect((await command(['cases', 'push', path, '--force'])).exitCode).toBe(0);
    expect((await command(pull)).out).toContain('has them already');
    const told = { path, etag: expect.stringMatching(/^"/), changed: false };
    expect(JSON.parse((await command([...pull, '--json'])).out)).toEqual(told);
    expect(JSON.parse((await command(['cases', 'push', path, '--json'])).out)).toEqual(told);
    await rm(path);
    expect((await command(pull)).exitCode).toBe(0);
    expect(await readFile(path, 'utf8')).toBe(text('two'));
    expect((await command(['cases', 'pull', '--app', '9001', '--rule-id', '89'])).exitCode).toBe(3);
  });

  it('runs saved cases and updates them there', async () => {
    const saved = await file(
      'saved.cases.yaml',
      (await readFile(DEMO, 'utf8')).replace('ruleId: 1', 'ruleId: 1 # saved'),
    );
    expect((await command(['cases', 'push', saved])).exitCode).toBe(0);
    const parameters = ['test', '--saved', '--app', '9001', '--rule-id', '1'];
    expect((await command([...parameters, '--target', 'lane:beta'])).exitCode).toBe(0);
    const updated = await command([...parameters, '--update', '--json']);
    expect(JSON.parse(updated.out).batches[0].etag).toMatch(/^"[0-9a-f]{64}"$/);
    expect(updated.exitCode).toBe(0);
    const now = await service.call('/rule-server/mock/cases?app=9001&ruleId=1');
    expect(now.text).toBe((await readFile(saved, 'utf8')).replaceAll('amount: 25', 'amount: 20'));
  });

  it('runs as the snippets for GitHub and GitLab say, in a plain shell', async () => {
    const ci = (name: string) => readFile(join(import.meta.dirname, '../../examples/ci', name), 'utf8');
    const { jobs } = workflowSchema.parse(parse(await ci('github.yml')));
    const lines = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => (run === undefined ? [] : [run])),
    );
    expect(gitlabSchema.parse(parse(await ci('gitlab.yml'))).cases.script).toEqual(lines);
    // `npm ci` takes the package from a registry; what it would put there is linked below.
    const [install, ...then] = lines;
    expect(install).toBe('npm ci');
    const home = await mkdtemp(join(folder, 'repository-'));
    for (const part of ['cases/of a rule', 'node_modules/.bin']) await mkdir(join(home, part), { recursive: true });
    await symlink(BIN, join(home, 'node_modules/.bin/rule-server'));
    await copyFile(DEMO, join(home, 'cases/of a rule/demo.cases.yaml'));
    const path = `${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { ...process.env, PATH: path, RULE_SERVER_URL: service.url, npm_config_update_notifier: 'false' };
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', `${then.join('\n')} --target lane:beta`], {
      cwd: home,
      env,
    });
    expect(stdout).toContain('cases/of a rule/demo.cases.yaml (app 9001 rule 1): 4 passed');
    expect(await otherProblems(await readFile(join(home, 'out.xml'), 'utf8'))).toEqual([]);
  });

  it('works against a service that needs a key, as a process of its own', async () => {
    const key = '0123456789abcdef';
    await using guarded = await startService({ settings: { API_KEYS: `ci:${key}`, CLIENT_TIMEOUT_MS: 30_000 } });
    await using _demo = await startDemoThere(guarded);
    const run = (environment: Record<string, string>) =>
      new Promise<{ code: number; err: string }>((resolve) => {
        const env = { PATH: process.env.PATH ?? '', RULE_SERVER_URL: guarded.url, ...environment };
        execFile(process.execPath, [BIN, 'test', DEMO, '--target', 'lane:beta'], { env }, (error, _out, err) =>
          resolve({ code: Number(error?.code ?? 0), err }),
        );
      });
    expect(await run({})).toMatchObject({ code: 8, err: expect.stringContaining('needs a key it knows') });
    expect(await run({ RULE_SERVER_KEY: key })).toMatchObject({ code: 0 });
  });
});

/** The lines of shell in a job of a workflow. */
const workflowSchema = z.object({
  jobs: z.record(z.string(), z.object({ steps: z.array(z.object({ run: z.string().optional() })) })),
});
const gitlabSchema = z.object({ cases: z.object({ script: z.array(z.string()) }) });

async function startDemoThere(service: Service) {
  const client = await startDemoClient({ sharedDir: service.sharedDir, onError: () => {} });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}
