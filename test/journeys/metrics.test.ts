import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answers, createResponder } from '../support/responder.ts';
import { hasPrometheus } from '../support/start-prometheus.ts';
import { startService } from '../support/start-service.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const run = promisify(execFile);

const read = (path: string) => readFile(join(DEPLOY, path), 'utf8');

describe('metrics', () => {
  it('the dashboard and the alerts name no metric that a scrape does not have', async () => {
    await using service = await startService();
    const scrape = (await service.call('/metrics')).text;
    const used = [await read('grafana/dashboard.json'), await read('prometheus/alerts.yml')]
      .flatMap((text) => text.match(/\brule_server_\w+/g) ?? [])
      .map((name) => name.replace(/_bucket$/, ''));
    expect(used.length).toBeGreaterThan(20);
    for (const name of used) expect(scrape).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
  });

  it('every alert has its section in the handbook, and the handbook no other', async () => {
    const alerts = [...(await read('prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    const sections = [...(await read('../docs/run/runbook.md')).matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(expect.arrayContaining(alerts));
    expect(sections).toHaveLength(alerts.length);
  });

  it('count what ended, by outcome and phase, by app where it has clients, and never name a client or an execution', async () => {
    await using service = await startService();
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 4711, does: answers() });
    const { mockId } = (await service.execute({ app: 4711, ruleId: 815 })).json;
    await service.execute({ app: 4712, ruleId: 815 });
    await service.execute('{');
    await service.call(`/rule-server/mock/executions/${mockId}`);
    await service.call('/somewhere/else');
    await service.call('/healthz', { method: 'PROPFIND' });
    const { text, headers } = await service.call('/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length),
      );
    expect(value('rule_server_executions_total{state="succeeded",code="answered"}')).toBe(1);
    expect(value('rule_server_executions_total{state="rejected",code="no-client"}')).toBe(1);
    expect(value('rule_server_execution_phase_seconds_count{phase="queued"}')).toBe(2);
    expect(value('rule_server_execution_phase_seconds_count{phase="noticing"}')).toBe(1);
    expect(value('rule_server_clients{state="online"}')).toBe(1);
    expect(value('rule_server_app_executions_total{app="4711",outcome="answered"}')).toBe(1);
    expect(value('rule_server_app_executions_total{app="4711",outcome="unanswered"}')).toBe(0);
    expect(text).not.toContain('4712');
    expect(value('rule_server_worker_capacity')).toBe(2000);
    expect(value('rule_server_queue_store_up')).toBe(1);
    expect(value('rule_server_http_requests_total{route="/rule-server/mock/execute",method="POST",status="400"}')).toBe(
      1,
    );
    expect(
      value('rule_server_http_requests_total{route="/rule-server/mock/executions/:mockId",method="GET",status="200"}'),
    ).toBe(1);
    const withoutValues = text.replaceAll(/^([^#].*) \S+$/gm, '$1'); // the digits of a time may be those of a rule
    for (const secret of ['815', mockId, client.address, 'somewhere']) expect(withoutValues).not.toContain(secret);
  });

  it('need a key where there are keys, on the worker as well', async () => {
    await using service = await startService({ workers: 0, settings: { API_KEYS: 'ops:0123456789abcdef' } });
    expect((await service.call('/metrics')).status).toBe(401);
    const headers = { authorization: 'Bearer 0123456789abcdef' };
    expect((await service.call('/metrics', { headers })).status).toBe(200);
  });
});

describe.skipIf(!(await hasPrometheus()))('the tool of Prometheus', () => {
  it('accepts the alerts, and they fire when they should', async () => {
    await run('promtool', ['check', 'rules', join(DEPLOY, 'prometheus/alerts.yml')]);
    await run('promtool', ['check', 'config', '--syntax-only', join(DEPLOY, 'prometheus/prometheus.yml')]);
    await run('promtool', ['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yml')]);
  });
});
