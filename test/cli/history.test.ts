import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpCall } from '../support/http-call.ts';
import { errs } from '../support/responder.ts';
import { runCli } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const APP = 8831;

describe('rule-server history', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({});
    await using _ = await service.clientThat(errs('the card was refused'), { app: APP });
    for (const uid of ['9007199254740992', '9007199254740993', '9007199254740994']) await execute(uid);
  });
  afterAll(() => service.stop());

  async function execute(uid: string): Promise<void> {
    const body = `{"app":${APP},"ruleId":7,"the service":{"uid":${uid},\r\n  "p":"C:\\\\temp \\"${uid.at(-1)}\\""}}`;
    const headers = { 'content-type': 'application/json' };
    await httpCall(`${service.url}/rule-server/mock/execute`, { method: 'POST', headers, body });
  }

  async function history(...parameters: string[]) {
    const { code, out, err } = await runCli('history', '--url', service.url, ...parameters);
    return { exitCode: code, lines: out.trimEnd().split('\n').filter(Boolean), err };
  }

  it('lists the newest first, with what came of each, and as many as are wanted', async () => {
    const { lines, exitCode, err } = await history('--app', String(APP), '--limit', '2');
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(lines).toEqual([expect.stringContaining('9007199254740994'), expect.stringContaining('9007199254740993')]);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\S+ {2}\S{36} {2}failed .*app 8831 rule 7 {2}\d\.\d\d s/);
  });

  it('finds by the last digit of an input, prints it to that digit and in one line with --json, and says how far it looked', async () => {
    const { lines, err } = await history('--app', String(APP), '--where', 'uid=9007199254740993', '--json');
    expect(lines).toEqual([expect.stringContaining('"input":{"uid":9007199254740993,')]);
    expect(err).toMatch(/^1 found in 3 executions, back to \S+Z\.\n$/);
  });

  it('finds by several conditions and by the words of an error', async () => {
    const both = ['--where', 'uid>9007199254740992', '--where', 'uid<9007199254740994'];
    expect((await history('--app', String(APP), ...both)).lines).toHaveLength(1);
    expect((await history('--text', 'card refused')).lines).toHaveLength(3);
    expect((await history('--text', 'card accepted')).lines).toEqual([]);
  });

  it('finds words of the values, not of the JSON that they are written in', async () => {
    const { lines } = await history('--text', 'C:\\temp "3"');
    expect(lines).toEqual([expect.stringContaining('9007199254740993')]);
    expect((await history('--text', 'C:\\\\temp')).lines).toEqual([]);
  });

  it.each([
    [['--limit', '0'], '--limit'],
    [['--limit', '1e1'], '--limit'],
    [['--limit', '0x10'], '--limit'],
    [['--outcome', 'MAYBE'], 'outcome'],
    [['--app', String(APP), '--where', 'uid'], 'where'],
    [['--where', 'uid=1'], 'app'],
  ])('refuses %j, and names what is wrong', async (parameters, named) => {
    const { exitCode, err, lines } = await history(...parameters);
    expect({ exitCode, lines }).toEqual({ exitCode: 2, lines: [] });
    expect(err).toContain(named);
  });
});
