import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ALERTS = join(import.meta.dirname, '../../deploy/prometheus/alerts.yml');

export type Series = { series: string; values: string };
/** Whether an expression comes to something that is not 0, at a time after the beginning of the series. */
export type Expectation = { expr: string; at: string };

/** Throws what `promtool test rules` says when the alerts, on these series of a sample every 30 s, come to anything else. */
export async function testAlerts(input: Series[], expected: Expectation[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-promtool-'));
  const test = {
    interval: '30s',
    input_series: input,
    promql_expr_test: expected.map(({ expr, at }) => ({
      expr,
      eval_time: at,
      exp_samples: [{ labels: '{}', value: 1 }],
    })),
  };
  const file = join(directory, 'test.yml');
  try {
    await writeFile(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '30s', tests: [test] })); // JSON is YAML
    await run('promtool', ['test', 'rules', file]);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The counters and gauges of ours in the text of a scrape, by series. */
export function seriesIn(scrape: string): Map<string, number> {
  const lines = [...scrape.matchAll(/^(rule_server_\w+(?:\{[^}]*\})?) (\S+)$/gm)];
  return new Map(lines.map(([, series = '', value]) => [series, Number(value)]));
}

/** Expects an alert to fire. `of`: the deployment that it is about, which is in its namespace or its deployment label. */
export const fires = (alert: string, at: string, of?: string): Expectation => ({
  expr: `count(${firing(alert, of)}) > bool 0`,
  at,
});

/** Expects an alert not to fire. */
export const isSilent = (alert: string, at: string, of?: string): Expectation => ({
  expr: `(count(${firing(alert, of)}) or vector(0)) == bool 0`,
  at,
});

function firing(alert: string, of: string | undefined): string {
  const labels = of === undefined ? [''] : [`,namespace="${of}"`, `,deployment="${of}"`];
  return labels.map((more) => `ALERTS{alertname="${alert}",alertstate="firing"${more}}`).join(' or ');
}
