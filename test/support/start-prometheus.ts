import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { freePort } from './free-port.ts';
import { httpCall } from './http-call.ts';

const ALERTS = join(import.meta.dirname, '../../deploy/prometheus/alerts.yml');
const START_TIMEOUT_MS = 30_000;

export type Rule = { name: string; type: string; health: string; state?: string };

export type Prometheus = {
  /** The samples a query comes to now; rejects with what is wrong with it. */
  query(text: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  /** The recording rules and the alerts. */
  rules(): Promise<Rule[]>;
  /** What is scraped, as `job health`. */
  targets(): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Whether this machine has a Prometheus (Debian's package is enough) and the tool that checks its files. */
export async function hasPrometheus(): Promise<boolean> {
  const run = promisify(execFile);
  return Promise.all([run('prometheus', ['--version']), run('promtool', ['--version'])]).then(
    () => true,
    () => false,
  );
}

/** A real Prometheus with our alerts that scrapes these addresses (`host:port`) every second, by job. */
export async function startPrometheus(jobs: Record<string, string[]>): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-prometheus-'));
  const scrapes = Object.entries(jobs).map(([job_name, targets]) => ({ job_name, static_configs: [{ targets }] }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [ALERTS],
    scrape_configs: scrapes,
  };
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const base = `http://127.0.0.1:${await freePort()}`;
  const parameters = [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${new URL(base).host}`,
  ];
  const child = spawn('prometheus', parameters, { stdio: 'ignore' });
  const exited = once(child, 'exit');

  const ask = async (path: string) => {
    const { json } = await httpCall(`${base}/api/v1/${path}`);
    if (json?.status !== 'success') throw new Error(`${path}: ${json?.error}`);
    return json.data;
  };
  const prometheus: Prometheus = {
    query: async (text) => (await ask(`query?query=${encodeURIComponent(text)}`)).result,
    rules: async () => (await ask('rules')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules),
    async targets() {
      const { activeTargets } = await ask('targets');
      type Target = { labels: { job: string }; health: string };
      return activeTargets.map(({ labels, health }: Target) => `${labels.job} ${health}`).sort();
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
  await vi
    .waitFor(() => prometheus.rules(), START_TIMEOUT_MS)
    .catch(async (error) => {
      await prometheus[Symbol.asyncDispose]();
      throw error;
    });
  return prometheus;
}
