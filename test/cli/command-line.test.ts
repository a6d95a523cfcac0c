import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { checkClocks } from '../../src/cli/doctor/clock-check.ts';
import { statesOf } from '../../src/cli/runs/event-stream.ts';
import { exitCodeOf, exitCodes } from '../../src/cli/terminal/exit-codes.ts';
import { createHttpApi } from '../../src/cli/terminal/http-api.ts';
import { eventually } from '../support/eventually.ts';
import { gatewayThat } from '../support/gateway.ts';
import { startRedis } from '../support/redis.ts';
import {
  answers,
  answersAfter,
  answersWith,
  createResponder,
  errs,
  picksUpAndStaysSilent,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { type How, interruptedAfter, runCliWith } from '../support/run-cli.ts';
import { startWorkerProcess } from '../support/start-process.ts';
import { type Service, startService } from '../support/start-service.ts';
import { clockAhead } from '../support/wrong-clock.ts';

const BIN = join(import.meta.dirname, '../../bin/rule-server.js');
const run = promisify(execFile);

const command = async (line: string[], how: How = {}) => {
  const { code, ...texts } = await runCliWith(how, ...line);
  return { exitCode: code, ...texts };
};

describe('the command line', () => {
  let service: Service;
  /** One whose executions are soon over when their client does not answer. */
  let hasty: Service;
  let apps = 900;
  beforeAll(async () => {
    service = await startService({ settings: { RESULT_TIMEOUT_MS: 30_000 }, leavesFiles: true });
    hasty = await startService({ settings: { RESULT_TIMEOUT_MS: 1500 }, leavesFiles: true });
  });
  afterAll(async () => {
    await hasty?.stop();
    await service?.stop();
  });

  const exec = (app: number, more: string[] = [], how: How = {}) =>
    command(['exec', '--url', service.url, '--app', String(app), '--rule-id', '1', ...more], how);

  describe.concurrent('exec', () => {
    it('prints the answer to the digit with --json, and ends with 0', async () => {
      await using client = await service.clientThat(
        answersWith((request) => resultText(request).replace('{}', '{"n":1e400}')),
      );
      const data = '{"uid":9007199254740993,"x":0.10}';
      const { exitCode, out } = await exec(client.app, ['--data', data, '--json', '--ts', '1700000000000']);
      expect(exitCode).toBe(0);
      expect(out).toBe(`${client.found.map((request) => resultText(request).replace('{}', '{"n":1e400}')).join('')}\n`);
      expect(client.found[0]?.text).toContain(data);
      expect(client.found[0]?.text).toContain('1700000000000');
    });

    it('shows as an escape whatever a client wrote for the terminal to obey', async () => {
      const evil =
        '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202egpj.exe\u2066\rover\u200b\ufeff\u00a0\u3000\u3164\u{e0001}';
      const unseen =
        /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u200b-\u200f\u2028-\u202e\u2066-\u2069\u3000\u3164\ufeff\u{e0000}-\u{e007f}]/u;
      for (const does of [errs(evil), answers({ process: evil, 'the service': { [evil]: evil } })]) {
        await using client = await service.clientThat(does);
        for (const more of [[], ['--json']]) {
          const { out, err } = await exec(client.app, more);
          expect(out).toContain('\\u202egpj.exe');
          expect(out).toContain('\\u200b\\ufeff\\u00a0\\u3000\\u3164\\udb40\\udc01');
          expect(out + err).not.toMatch(unseen);
          if (more.length > 0) expect(JSON.stringify(JSON.parse(out))).toContain('\u202egpj.exe');
        }
      }
      const nowhere = await exec(++apps, ['--target', `address:${evil}`]);
      expect(nowhere.err).toMatch(/the address contains a character that cannot be seen: .*\\udb40\\udc01/);
      expect(nowhere.err).not.toMatch(unseen);
    });

    it('shows the states on a terminal as they are reached, and then the answer for a person', async () => {
      const does = answers({ 'the service': { uid: 1, list: [1, {}] }, process: '[1:A:T:0]' });
      const seen = Promise.withResolvers<void>();
      await using client = await service.clientThat(async (request) => {
        await seen.promise;
        await does(request, client);
      });
      const onText: How['onText'] = (_, text) => text.includes('waits for the client to pick it up') && seen.resolve();
      const { exitCode, out, err } = await exec(client.app, [], { tty: true, onText });
      expect(exitCode).toBe(0);
      const shown = err.replace(/\u001b\[[0-9;]*[mK]/g, '');
      expect(shown).toMatch(/0\.00 s {2}queued/);
      expect(shown).toContain(`dispatched   ${client.address}`);
      expect(shown).toContain('waits for the client to pick it up');
      expect(shown).toContain('succeeded');
      expect(out).toMatch(/^TRUE\n/);
      expect(out).toContain('[1:A:T:0]\n{\n  "uid": 1,\n  "list": [\n    1,\n    {}\n  ]\n}\n');
      expect(out).toMatch(new RegExp(`${client.address}: \\d+\\.\\d\\d s \\(queue `));
    });

    it('says of a dry run what was not called, and what was', async () => {
      const members = { dryRun: true, effects: { stubbed: [], assumed: [3, 6], unsure: [5] } };
      const app = ++apps;
      const does = answersWith((request) => resultText(request, members));
      await using client = await createResponder({ sharedDir: service.sharedDir, app, dryRun: true, does });
      const { exitCode, out } = await exec(app, ['--dry-run']);
      expect(exitCode).toBe(0);
      expect(out).toContain(
        'Dry run. Called, though they do not say whether they have effects: #5. Not called, and counted as TRUE: #3, #6.\n',
      );
      expect(client.found[0]?.text).toContain('"dryRun":{');
    });

    it('shows nothing but the answer when nobody watches', async () => {
      await using client = await service.clientThat(answers());
      expect((await exec(client.app)).err).toBe('');
    });

    it.each([
      [1, 'the rule failed', errs('no such leaf'), 'no such leaf'],
      [4, 'the client stays silent', picksUpAndStaysSilent, 'wrote no answer'],
      [4, 'the client does not pick it up', staysSilent, 'did not pick the request up'],
      [5, 'the client writes no result', answersWith('[]'), 'cannot be used'],
    ] as const)('ends with %d when %s', async (code, _when, does, sentence) => {
      const app = ++apps;
      await using _client = await createResponder({ sharedDir: hasty.sharedDir, app, does });
      const run = ['exec', '--url', hasty.url, '--app', String(app), '--rule-id', '1'];
      const { exitCode, out, err } = await command(run);
      expect(exitCode).toBe(code);
      // Standard output is for what a client answered.
      expect(code === 1 ? out : err).toContain(sentence);
      expect(code === 1 ? err : out).toBe('');
    });

    it('ends with 3 when nobody is there', async () => {
      const { exitCode, out, err } = await exec(++apps);
      expect(exitCode).toBe(3);
      expect(out).toBe('');
      expect(err).toContain('has no client online');
    });

    it('cancels the execution at Ctrl-C', async () => {
      await using client = await service.clientThat(staysSilent);
      const run = ['exec', '--url', service.url, '--app', String(client.app), '--rule-id', '1'];
      const { exitCode, err } = await command(run, interruptedAfter(client.firstRequest()));
      expect(exitCode).toBe(130);
      expect(err).toContain('is being cancelled');
      const { mockId } = await client.firstRequest();
      await eventually(async () => {
        const { json } = await service.call(`/rule-server/mock/executions/${mockId}`);
        expect(json.state).toBe('cancelled');
      });
    });

    it('takes its input from a file or from standard input', async () => {
      await using client = await service.clientThat(answers());
      const directory = await mkdtemp(join(tmpdir(), 'rule-server-cli-'));
      await writeFile(join(directory, 'input.json'), '{"from":"file"}\n');
      expect((await exec(client.app, ['--data', `@${join(directory, 'input.json')}`])).exitCode).toBe(0);
      expect((await exec(client.app, ['--data', '-'], { stdin: '{"from":"stdin"}' })).exitCode).toBe(0);
      expect(client.found.map(({ text }) => /"from":"(\w+)"/.exec(text)?.[1])).toEqual(['file', 'stdin']);
    });

    it('goes where it is told to', async () => {
      await using client = await service.clientThat(answers(), { lane: 'beta' });
      expect((await exec(client.app, ['--target', 'lane:beta'])).exitCode).toBe(0);
      expect((await exec(client.app, ['--target', 'lane:gamma'])).exitCode).toBe(3);
      expect((await exec(client.app, ['--target', 'nonsense'])).exitCode).toBe(2);
    });

    it.each([
      ['--data', '[1]', 'must be a JSON object: it is array'],
      ['--data', '{"a":', 'it ends too early'],
      ['--data', '@/nowhere', 'cannot be read'],
      ['--ts', 'yesterday', '`ts`: '],
    ])('ends with 2 for %s %s, and says why', async (option, value, sentence) => {
      const { exitCode, err } = await exec(1, [option, value]);
      expect(exitCode).toBe(2);
      expect(err).toContain(sentence);
    });

    it('under an Idempotency-Key runs once', async () => {
      await using client = await service.clientThat(answersAfter(50));
      const more = ['--idempotency-key', 'k', '--json'];
      const [first, second] = [await exec(client.app, more), await exec(client.app, more)];
      expect(second.out).toBe(first.out);
      expect(client.found).toHaveLength(1);
    });

    it('sends a key of its own with every call, so that whoever repeats one on the way runs nothing twice', async () => {
      const keys: unknown[] = [];
      await using gateway = await gatewayThat((request, response) => {
        keys.push(request.headers['idempotency-key']);
        response
          .writeHead(503, { 'content-type': 'application/problem+json' })
          .end('{"error":"No API.","mayHaveRun":false}');
      });
      const call = ['exec', '--url', gateway.url, '--app', '1', '--rule-id', '1'];
      await command(call);
      await command(call);
      expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      expect(new Set(keys).size).toBe(2);
    });

    it.each([
      ['a refusal after which it may have run', 503, '{"error":"Not known.","mayHaveRun":true}'],
      ['a gateway that says nothing of it', 502, 'Bad Gateway'],
      ['a connection that breaks', 0, ''],
    ])('after %s ends with 7 and tells the key to send it again under', async (_, status, body) => {
      let key: unknown;
      await using gateway = await gatewayThat((request, response) => {
        key = request.headers['idempotency-key'];
        if (status === 0) return response.destroy();
        return response.writeHead(status).end(body);
      });
      const { exitCode, err } = await command(['exec', '--url', gateway.url, '--app', '1', '--rule-id', '1']);
      expect([exitCode, err.includes(`${key}`)]).toEqual([exitCodes.unknown, true]);
    });
  });

  describe.concurrent('clients', () => {
    it('lists who is there, and ends with 0', async () => {
      await using one = await service.clientThat(staysSilent, { lane: 'beta', address: 'host_one' });
      const { exitCode, out } = await command(['clients', '--url', service.url, '--app', String(one.app)]);
      expect(exitCode).toBe(0);
      expect(out).toMatch(/^ADDRESS +LANE +STATE +HEARTBEAT +SDK +VERSION +OPEN +LAST PICK-UP\n/);
      expect(out).toMatch(/\nhost_one +beta +online +\d\.\d s ago +node +1 +0 *\n/);
    });

    it('ends with 3 when nobody is, and with 2 for an app that is none', async () => {
      const list = (app: string) => command(['clients', '--url', service.url, '--app', app]);
      expect(await list(String(++apps))).toMatchObject({ exitCode: 3, out: expect.stringContaining('has no clients') });
      expect(await list('x')).toMatchObject({ exitCode: 2, err: expect.stringContaining('`app`: ') });
    });

    it('prints the answer as it is with --json', async () => {
      await using one = await service.clientThat(staysSilent);
      const { out } = await command(['clients', '--url', service.url, '--app', String(one.app), '--json']);
      // It beats meanwhile.
      const timeless = (text: string) => text.replaceAll(/"(lastHeartbeat|heartbeatAgeMs)":\d+/g, '"$1":0');
      const { text } = await service.call(`/rule-server/mock/clients?app=${one.app}`);
      expect(timeless(out)).toBe(`${timeless(text)}\n`);
    });
  });

  it('ends with 8 when no API answers, or it does not know the key', async () => {
    const nobody = await command(['exec', '--url', 'http://127.0.0.1:1', '--app', '1', '--rule-id', '1']);
    expect(nobody).toMatchObject({ exitCode: 8, err: expect.stringContaining('No API answers') });
    const settings = { API_KEYS: 'me:0123456789abcdef', QUEUE_TIMEOUT_MS: 300 };
    await using guarded = await startService({ workers: 0, settings });
    const list = (key: string) =>
      command(['clients', '--app', '1'], { environment: { RULE_SERVER_URL: guarded.url, RULE_SERVER_KEY: key } });
    expect(await list('wrong')).toMatchObject({ exitCode: 8, err: expect.stringContaining('RULE_SERVER_KEY') });
    expect((await list('0123456789abcdef')).err).toContain('No worker answered');
  });

  it('teaches: every command explains itself, and what is wrong is said with exit code 2', async () => {
    const help = await command(['--help']);
    expect(help.exitCode).toBe(0);
    for (const name of ['all', 'api', 'worker', 'demo-client', 'exec', 'clients', 'doctor'])
      expect(help.out).toContain(name);
    const exec = await command(['exec', '--help'], { environment: { RULE_SERVER_KEY: 'a-secret-of-mine' } });
    expect(exec.out).toContain('Exit codes:');
    expect(exec.out).not.toContain('a-secret-of-mine');
    for (const path of await commandPaths()) {
      const { out } = await command([...path, '--help']);
      expect(out, path.join(' ')).toMatch(/^Examples?\b/m);
      expect(out, path.join(' ')).toContain('Exit codes:\n');
    }
    expect(exec.out.indexOf('--app'), 'its own options come first').toBeLessThan(exec.out.indexOf('--url'));
    for (const name of ['all', 'api', 'worker', 'demo-client'])
      expect((await command([name, '--help'])).out).toContain('SHARED_DIR');
    expect(await command(['nope'])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("unknown command 'nope'"),
    });
    expect(await command(['exec'])).toMatchObject({ exitCode: 2, err: expect.stringContaining('--app') });
    expect((await command(['exec', '--ap', '7'])).err).toMatch(/unknown option '--ap'\n\(Did you mean --app\?\)/);
    expect(await command(['exec', '--app', '7'])).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('--rule-id or --conf-id'),
    });
    expect((await command(['api', '--help'])).out).toContain('start the HTTP side');
  });

  it.each([
    ['rule-server ex', 'exec explain'],
    ['rule-server cases pu', 'pull push'],
    ['rule-server exec --ta', '--target'],
    ['rule-server exec --app 7 --ru', '--rule-id'],
    ['rule-server keys ', 'new check --help'],
  ])('bash completes "%s" to %s', async (line, found) => {
    const { out } = await command(['completion', 'bash']);
    const words = line.split(' ').map((word) => `'${word}'`);
    const script = `${out}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _rule_server; echo "\${COMPREPLY[*]}"`;
    expect((await run('bash', ['-c', script])).stdout.trim()).toBe(found);
  });

  it('names the setting of a key that no header can hold', async () => {
    const { exitCode, err } = await command(['clients', '--app', '1', '--url', service.url], {
      environment: { RULE_SERVER_KEY: 'schl\u00fcssel-von-mir' },
    });
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/^RULE_SERVER_KEY .*character 5 /)]);
  });

  it('ends quietly when whoever reads its output has left', async () => {
    const without = async (closed: 'stdout' | 'stderr', ...parameters: string[]) => {
      const child = spawn(process.execPath, [BIN, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
      child[closed].destroy();
      const [other, [exitCode]] = await Promise.all([
        text(closed === 'stdout' ? child.stderr : child.stdout),
        once(child, 'close'),
      ]);
      return { exitCode, other };
    };
    const url = ['--url', service.url];
    await using client = await service.clientThat(answers({}));
    await exec(client.app);
    for (const line of [['--help'], ['history', '--json', ...url], ['clients', '--app', String(client.app), ...url]])
      expect([line[0], await without('stdout', ...line)]).toEqual([line[0], { exitCode: 0, other: '' }]);
    expect(await without('stderr', 'clients', '--app', '1', '--url', 'http://127.0.0.1:9')).toEqual({
      exitCode: 8,
      other: '',
    });
  });

  it('tells its version, and what each exit code means', async () => {
    expect((await command(['-v'])).out).toMatch(/^\d+\.\d+\.\d+/);
    const { out } = await command(['--help']);
    for (const code of new Set(Object.values(exitCodes))) expect(out).toMatch(new RegExp(`^ {2}${code} +\\w`, 'm'));
    const ending = { status: 504, code: 'outcome-unknown', reason: null, params: {}, mayHaveRun: true } as const;
    expect(exitCodeOf({ state: 'timed-out', ending })).toBe(exitCodes.unknown);
  });

  it('is what the installed program runs', async () => {
    await using client = await service.clientThat(answers());
    const { stdout } = await run(process.execPath, [
      BIN,
      'exec',
      '--url',
      service.url,
      '--app',
      String(client.app),
      '--rule-id',
      '1',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true });
    const failed = await run(process.execPath, [
      BIN,
      'exec',
      '--url',
      service.url,
      '--app',
      '1',
      '--rule-id',
      '1',
    ]).catch((error) => error);
    expect(failed.code).toBe(3);
  });
});

it('exec does not follow for ever what no API tells of any more', async () => {
  const api = createHttpApi({ url: 'http://127.0.0.1:1', key: undefined });
  const states = statesOf(api, 'lost', new AbortController().signal, { giveUpMs: 300 });
  expect(await states.next()).toEqual({ done: true, value: undefined });
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable' || choice.kind === 'url')('exec, while the queue store hangs', () => {
  it('ends with 7 when it is not known whether it was stored', async () => {
    const redis = await startRedis(choice);
    try {
      await using service = await startService({ queueUrl: redis.url });
      await redis.pause?.();
      const ran = await command(['exec', '--url', service.url, '--app', '1', '--rule-id', '1']);
      await redis.resume?.();
      expect(ran.exitCode, ran.err).toBe(7);
    } finally {
      await redis.stop();
    }
  });
});

describe.skipIf(choice.kind === 'unavailable')('doctor', () => {
  type Finding = { check: string; level: string; message: string };
  const doctor = async (environment: Record<string, string>, url: string) => {
    const { exitCode, out } = await command(['doctor', '--json', '--url', url], { environment });
    const findings: Finding[] = JSON.parse(out);
    const bad = findings.filter(({ level }) => level !== 'ok').map(({ check }) => check);
    return { exitCode, findings, bad };
  };

  it('finds nothing to fail in a deployment that works, and says what each check saw', async () => {
    const redis = await startRedis(choice);
    try {
      await using service = await startService({ queueUrl: redis.url, workers: 2 });
      const environment = { REDIS_URL: redis.url, SHARED_DIR: service.sharedDir };
      const { exitCode, findings } = await doctor(environment, service.url);
      expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
      expect(exitCode).toBe(0);
      const saw = (check: string) => findings.find((finding) => finding.check === check)?.message;
      expect(saw('redis')).toMatch(/is version \d/);
      expect(saw('workers')).toBe('2 connected, 2 take executions');
      expect(saw('redis use')).toContain('noeviction');
      expect(saw('identity')).toContain('as the queue knows it');
      expect(saw('events')).toBe('arrive');
      expect(saw('api')).toContain('is ready');
      expect(saw('clocks')).toMatch(/^agree: this machine, Redis, /);
      expect(saw('inotify')).toMatch(/^limits are high enough$|^fs\.inotify\./);
      const { out } = await command(['doctor', '--url', service.url], { environment });
      expect(out).toMatch(/^ok {4}node/);
    } finally {
      await redis.stop();
    }
  });

  it('names the clock that is wrong: that of a worker', async () => {
    const redis = await startRedis(choice);
    try {
      await using service = await startService({ queueUrl: redis.url });
      const { sharedDir } = service;
      const right = await doctor({ REDIS_URL: redis.url, SHARED_DIR: sharedDir }, service.url);
      expect(right.findings.find(({ check }) => check === 'clocks')).toMatchObject({
        level: 'ok',
        message: expect.stringMatching(/^agree: this machine, Redis, the file server, the worker \S+, the API$/),
      });
      await using ahead = await startWorkerProcess({ queueUrl: redis.url, sharedDir, settings: clockAhead(20) });
      const { findings } = await doctor({ REDIS_URL: redis.url, SHARED_DIR: sharedDir }, service.url);
      const { level, message } = findings.find(({ check }) => check === 'clocks') ?? {};
      expect(level).toBe('warn');
      expect(message).toMatch(
        new RegExp(`^wrong: the worker \\S+-${ahead.pid} \\(1200 s ahead\\); this machine, Redis, `),
      );
    } finally {
      await redis.stop();
    }
  });

  it('names the clock that is wrong: whichever most others disagree with', () => {
    const others = (file: number) => [
      { whose: 'Redis', aheadMs: 3 },
      { whose: 'the file server', aheadMs: file },
      { whose: 'the API', aheadMs: -900 },
    ];
    expect(checkClocks(others(-60_000)).message).toMatch(
      /^wrong: the file server \(60 s behind\); this machine, Redis/,
    );
    expect(checkClocks(others(900)).level).toBe('ok');
    expect(checkClocks([{ whose: 'Redis', aheadMs: 60_000 }]).message).toMatch(/^disagree: .*Redis \(60 s ahead\)$/);
    const redisAlone = others(60_000).map((clock) => ({ ...clock, aheadMs: 60_000 }));
    expect(checkClocks(redisAlone).message).toMatch(/^wrong: this machine \(60 s behind\)/);
  });

  it('says what is wrong and what to do: no Redis, no directory, no API', async () => {
    const environment = { REDIS_URL: 'redis://127.0.0.1:1', SHARED_DIR: '/nowhere/at/all' };
    const { exitCode, findings, bad } = await doctor(environment, 'http://127.0.0.1:1');
    expect(exitCode).toBe(1);
    expect(bad).toEqual(expect.arrayContaining(['redis', 'shared directory', 'api']));
    for (const finding of findings.filter(({ level }) => level !== 'ok')) expect(finding).toHaveProperty('advice');
    expect(findings.find(({ check }) => check === 'redis')?.message).toContain('ECONNREFUSED');
  });

  it('fails for a directory that is not the one the workers use, and when no worker runs', async () => {
    const redis = await startRedis(choice);
    const other = await mkdtemp(join(tmpdir(), 'rule-server-other-'));
    try {
      await using service = await startService({ queueUrl: redis.url });
      await using elsewhere = await startService({ sharedDir: other });
      await elsewhere.stop();
      const { bad } = await doctor({ REDIS_URL: redis.url, SHARED_DIR: other }, service.url);
      expect(bad).toContain('identity');
      await service.stop();
      const { bad: later } = await doctor({ REDIS_URL: redis.url, SHARED_DIR: other }, service.url);
      expect(later).toContain('workers');
    } finally {
      await redis.stop();
    }
  });

  it('names a setting that cannot be used', async () => {
    const { findings } = await doctor({ PORT: 'eighty' }, 'http://127.0.0.1:1');
    expect(findings.find(({ check }) => check === 'settings')?.message).toContain('PORT');
  });
});

/** The words of every command that has no commands of its own, as the script for bash knows them. */
async function commandPaths(): Promise<string[][]> {
  const { out } = await command(['completion', 'bash']);
  const paths = [...out.matchAll(/^ +"([^"]+)"\) words=/gm)].map(([, path = '']) => path);
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path} `))).map((path) => path.split(' '));
}
