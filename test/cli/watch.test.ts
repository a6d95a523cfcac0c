import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { createResponder, errs } from '../support/responder.ts';
import { type How, runCliWith } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

describe('rule-server watch', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.stop());

  /** Watches until it is interrupted; `lines` grows meanwhile. */
  function watch(...parameters: string[]) {
    const interrupt = new AbortController();
    const lines: string[] = [];
    const how: How = {
      onInterrupt: (listener) => void once(interrupt.signal, 'abort').then(listener),
      onText: (stream, text) => stream === 'out' && lines.push(...text.trimEnd().split('\n')),
    };
    const exitCode = runCliWith(how, 'watch', '--url', service.url, ...parameters).then(({ code }) => code);
    return { lines, exitCode, stop: () => interrupt.abort() };
  }

  async function execute(app: number, ruleId: string, input = '{}'): Promise<string> {
    const body = `{"app":${app},"ruleId":${ruleId},"the service":${input}}`;
    const headers = { 'content-type': 'application/json' };
    const { json } = await httpCall(`${service.url}/rule-server/mock/execute`, { method: 'POST', headers, body });
    return json.mockId;
  }

  it('prints what is new and what has gone on, of one app, each once, until Ctrl-C', async () => {
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 8811, does: echoes({ afterMs: 2500 }) });
    await using __ = await createResponder({ sharedDir: service.sharedDir, app: 8812, does: echoes() });
    const before = await execute(8811, '1');
    const watching = watch('--app', '8811');
    const [during] = await Promise.all([execute(8811, '2'), execute(8812, '3')]);
    await expect.poll(() => watching.lines.some((line) => line.includes('succeeded')), { timeout: 60_000 }).toBe(true);
    watching.stop();
    expect(await watching.exitCode).toBe(130);
    const told = watching.lines.join('\n');
    expect(told).not.toContain(before);
    expect(told).not.toContain('app 8812');
    expect(watching.lines.every((line) => line.includes(`${during}  `) && line.includes('app 8811 rule 2'))).toBe(true);
    const states = watching.lines.map((line) => line.split(/ +/)[2]);
    expect(states.at(-1)).toBe('succeeded');
    expect(new Set(states).size).toBe(states.length);
    expect(watching.lines.at(-1)).toMatch(/ \d\.\d\d s$/);
  });

  it('prints only what a search finds', async () => {
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 8815, does: echoes({ afterMs: 1500 }) });
    const watching = watch('--app', '8815', '--where', 'uid=2');
    const [, wanted] = await Promise.all([execute(8815, '1', '{"uid":1}'), execute(8815, '1', '{"uid":2}')]);
    await expect.poll(() => watching.lines.some((line) => line.includes('succeeded')), { timeout: 60_000 }).toBe(true);
    watching.stop();
    await watching.exitCode;
    expect(watching.lines.filter((line) => !line.includes(wanted))).toEqual([]);
  });

  it('counts failures that are alike with --failures, and is silent about the rest', async () => {
    await using _ = await service.clientThat(errs('card 4711 was refused'), { app: 8816 });
    await using __ = await createResponder({ sharedDir: service.sharedDir, app: 8817, does: echoes() });
    const watching = watch('--failures');
    await expect
      .poll(
        async () => {
          await Promise.all([execute(8816, '1'), execute(8817, '1')]);
          return watching.lines.some((line) => / {2}\d+ times since \d\d:\d\d:\d\d {2}/.test(line));
        },
        { timeout: 60_000 },
      )
      .toBe(true);
    watching.stop();
    await watching.exitCode;
    expect(watching.lines.filter((line) => !line.includes(': card <number> was refused  '))).toEqual([]);
    expect(watching.lines[0]).toMatch(/^\d\d:\d\d:\d\d {2}failed /);
  });

  it('prints what the API has with --json, ids to the last digit', async () => {
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 8813, does: errs('no') });
    const watching = watch('--app', '8813', '--json');
    await expect
      .poll(() => execute(8813, '9007199254740993').then(() => watching.lines.length), { timeout: 60_000 })
      .toBeGreaterThan(0);
    watching.stop();
    await watching.exitCode;
    expect(watching.lines[0]).toContain('"ruleId":9007199254740993,');
    expect(JSON.parse(watching.lines[0] ?? '')).toMatchObject({ app: 8813, state: 'failed' });
  });

  it('says what is wrong with what was asked for', async () => {
    const watching = watch('--app', 'x');
    expect(await watching.exitCode).toBe(2);
  });
});
