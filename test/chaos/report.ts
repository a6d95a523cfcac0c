import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isFull, type Measured, type MeasuredFailOver, type MeasuredLoad } from './measured.ts';
import { withMeasured } from './measured-part.ts';

const MIB = 1024 * 1024;
const REPORT = join(import.meta.dirname, '../../docs/internals/reliability.md');

/** Collects what the suites measure, prints it as a table, and after a full run puts it into docs/internals/reliability.md. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-chaos-'));
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, '');
  project.provide('chaosRows', path);
  return async () => {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
    const rows: (Measured | MeasuredLoad | MeasuredFailOver)[] = lines.map((line) => JSON.parse(line));
    await rm(folder, { recursive: true });
    const faults = rows.filter((row) => 'fault' in row);
    const loads = rows.filter((row) => 'load' in row);
    const failOvers = rows.filter((row) => 'failOver' in row);
    console.log(`\n${faultTable(faults)}\n\n${failOverTable(failOvers)}\n\n${loadTable(loads)}\n`);
    if (isFull) await writeFile(REPORT, reportOf(await readFile(REPORT, 'utf8'), { faults, failOvers, loads }));
  };
}

function faultTable(rows: Measured[]): string {
  const head = [
    'Fault',
    'Promise',
    'Test',
    'Calls',
    'Refused',
    'within',
    'Answered within',
    'Lost',
    'Dispatched twice',
  ];
  const lines = rows.map(({ fault, promise, test, calls, refused, refusedMs, takeoverMs, lost, twice }) => [
    fault,
    promise,
    `\`${test}\``,
    calls,
    refused,
    refused > 0 ? `${(refusedMs / 1000).toFixed(1)} s` : '',
    `${(takeoverMs / 1000).toFixed(1)} s`,
    lost,
    twice,
  ]);
  return tableOf(head, lines);
}

function failOverTable(rows: MeasuredFailOver[]): string {
  const head = [
    'Fault',
    'Promise',
    'Test',
    'Calls',
    'Refused',
    'Answering again',
    'Open calls',
    'Lost',
    'Dispatched twice',
  ];
  const lines = rows.map(({ failOver, promise, test, calls, refused, againMs, openMs, lost, twice }) => [
    ...[failOver, promise, `\`${test}\``, calls, refused],
    ...[`${(againMs / 1000).toFixed(1)} s`, `${(openMs / 1000).toFixed(1)} s`, lost, twice],
  ]);
  return tableOf(head, lines);
}

function loadTable(rows: MeasuredLoad[]): string {
  const head = ['Load', 'Calls', 'Refused', 'Lost', 'Dispatched twice', 'Others meanwhile', 'Event-loop lag p99, max'];
  const lines = rows.map(({ load, calls, refused, lost, twice, othersMs, lag, memory }) => [
    load,
    calls,
    refused,
    lost,
    twice,
    othersMs === null ? '' : `${othersMs.toFixed(0)} ms`,
    `${lag.p99.toFixed(0)} ms, ${lag.max.toFixed(0)} ms`,
    ...[memory.api, memory.worker, memory.redis].map((bytes) => `${Math.round(bytes / MIB)} MiB`),
  ]);
  return tableOf([...head, 'API', 'Worker', 'Redis'], lines);
}

function tableOf(head: string[], lines: (string | number)[][]): string {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The document with what this run measured; all that was written by hand stays. */
type Rows = { faults: Measured[]; failOvers: MeasuredFailOver[]; loads: MeasuredLoad[] };

function reportOf(document: string, { faults, failOvers, loads }: Rows): string {
  const rows = [...faults, ...failOvers, ...loads];
  const sum = (of: (row: Measured | MeasuredFailOver | MeasuredLoad) => number) =>
    rows.reduce((total, row) => total + of(row), 0);
  const measured = `Measured by \`CHAOS=full npm run test:chaos\` on ${new Date().toISOString().slice(0, 10)}, on one machine with ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}) that also ran Redis, the client and
the callers.

**${sum(({ calls }) => calls)} calls: ${sum(({ lost }) => lost)} lost, ${sum(({ twice }) => twice)} dispatched twice.**

${faultTable(faults)}`;
  const withFaults = withMeasured(withMeasured(document, 'faults', measured), 'fail-overs', failOverTable(failOvers));
  return withMeasured(withFaults, 'loads', loadTable(loads));
}
