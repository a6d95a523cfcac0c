import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isFull, type Measured, type MeasuredLoad } from './measured.ts';

const MIB = 1024 * 1024;
const REPORT = join(import.meta.dirname, '../../docs/reliability.md');

/** Collects what the suites measure, prints it as a table, and after a full run writes docs/reliability.md. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-chaos-'));
  const path = join(folder, 'rows.jsonl');
  await writeFile(path, '');
  project.provide('chaosRows', path);
  return async () => {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
    const rows: (Measured | MeasuredLoad)[] = lines.map((line) => JSON.parse(line));
    await rm(folder, { recursive: true });
    const faults = rows.filter((row) => 'fault' in row);
    const loads = rows.filter((row) => 'load' in row);
    console.log(`\n${faultTable(faults)}\n\n${loadTable(loads)}\n`);
    if (isFull) await writeFile(REPORT, reportOf(faults, loads));
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

function reportOf(faults: Measured[], loads: MeasuredLoad[]): string {
  const rows = [...faults, ...loads];
  const sum = (of: (row: Measured | MeasuredLoad) => number) => rows.reduce((total, row) => total + of(row), 0);
  return `# What happens when something dies

An execution is dispatched at most once, and whoever still waits for it gets its true outcome, whatever dies, falls asleep
or forgets in between. How: [ADR 0001](adr/0001-claim-then-rename.md) and [ADR 0002](adr/0002-hint-and-poll.md).

The numbers below were measured by \`CHAOS=full npm run test:chaos\` on ${new Date().toISOString().slice(0, 10)}, on a machine
with ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}) and Node ${process.versions.node}, which also ran Redis, the client and the
callers. Every process is a real one: APIs and workers started by \`bin/rule-server.js\`, a \`redis-server\`, real files and real
signals. The short version, \`npm run test:chaos\`, takes three minutes and is part of every continuous integration run.

**${sum(({ calls }) => calls)} calls: ${sum(({ lost }) => lost)} lost, ${sum(({ twice }) => twice)} dispatched twice.**

${faultTable(faults)}

- *Calls*: made before, during and after the fault. Each carries a number that its answer has to bring back.
- *Refused*: 503 with \`mayHaveRun: false\`, or \`outcome-unknown\` when the queue store did not confirm the call within 0.7 s;
  and the longest that such a caller waited to hear that.
- *Answered within*: the longest that an open call waited for its answer, counted from the moment both the client had written
  it and the fault was over; for a worker, from the moment it died or fell asleep; under random faults, from the moment the
  client had written it.
- *Lost*: neither its own answer nor an honest refusal. Callers of an API that was killed are not counted: nobody waits any
  more, and their executions finish all the same.
- *Dispatched twice*: requests that the client found more than once in its directory.

A worker that dies is noticed when its locks lapse (5 s) and the queue is looked through twice (1 s each), so its
executions are elsewhere after 5 to 7 s. A worker that is asked to stop (SIGTERM) hands them over at once.

## With much to do

Two APIs and two workers, from the same run (\`overload.chaos.ts\`):

${loadTable(loads)}

- *Refused*: 503 with \`mayHaveRun: false\`, or, for the client that never answers, \`no-answer\` once its time was over.
- *Others meanwhile*: what a call of another client took, median, while these were open.
- *Event-loop lag*: how late timers ran in the process where they ran latest, from its own \`/metrics\`.
- *API*, *Worker*, *Redis*: the most memory that one process of the kind ever had.
`;
}
