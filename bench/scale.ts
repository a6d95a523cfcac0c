// `node bench/scale.ts`: a model of what calls cost, fed by four configurations on this machine, checked on eight others, and then asked
// for rates that no single machine has. Writes the tables and curves of docs/internals/scaling.md, and fails when the model is too far off.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withMeasured } from '../test/chaos/measured-part.ts';
import { type CostModel, costsFrom } from './cost-model.ts';
import { countFileOperations } from './count-operations.ts';
import { fileLatencyUs } from './file-latency.ts';
import type { Elsewhere, Ledger } from './fleet.ts';
import { load } from './load.ts';
import { drawScaling } from './scale-curves.ts';
import { type Machine, startMachine } from './scale-machine.ts';
import { answerTable, check, checkTable, costTable, fullFirstTable, offBy, percent, worstOf } from './scale-report.ts';
import { measureWindow, type Window } from './scale-window.ts';

const [APIS, WORKERS, CALLERS] = [4, 3, 100];
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const WARM_UP_SECONDS = 6;
const ALLOWED = 0.2;
const FAILED_ALLOWED = 0.01;
/** Each has no divisor in common with the number of configurations, so that every round visits all of them, in another order. */
const STRIDES = [1, 5, 7, 11];
const DOCUMENTS = join(import.meta.dirname, '../docs');

/** Assumed, not measured: set them to yours. */
const elsewhere: Elsewhere = {
  fileServerPerSecond: Number(process.env.FILE_SERVER_OPERATIONS ?? 50_000),
  fileWaitUs: Number(process.env.FILE_SERVER_WAIT_US ?? 500),
  fileServerPrice: Number(process.env.FILE_SERVER_PRICE ?? 500),
  workersPerMachine: Number(process.env.WORKERS_PER_MACHINE ?? 4),
  processorPrice: Number(process.env.PROCESSOR_PRICE ?? 30),
  target: 0.6,
};

const configurations = Array.from({ length: APIS * WORKERS }, (_, index) => {
  const [apis, workers] = [1 + (index % APIS), 1 + Math.floor(index / APIS)];
  return { apis, workers, feeds: (apis === 1 || apis === APIS) && (workers === 1 || workers === WORKERS) };
});

const machine = await startMachine(APIS, WORKERS);
try {
  const operations = await countOperations(machine);
  const windows = await measureRounds(machine);
  tellFailures(windows);
  const costsOf = costsFrom(windows);
  const checked = check(windows, configurations, { costsOf, callers: CALLERS });
  const unfed = check(windows, configurations, { costsOf: () => costsOf({ apis: 1, workers: 1 }), callers: CALLERS });
  const ledger = ledgerOf(costsOf, operations);
  await publish([
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${ROUNDS} rounds of ${SECONDS} s for each configuration, ${CALLERS} callers.`,
    '**What a call costs** with so many APIs × workers',
    costTable(
      costsOf,
      configurations.filter(({ feeds }) => feeds),
    ),
    `File operations a call: ${operations.worker.toFixed(1)} of the worker, ${operations.client.toFixed(1)} of the client; ` +
      `one takes ${operations.latencyUs.toFixed(0)} µs here.`,
    '**The model beside this machine**, calls a second',
    checkTable(checked),
    `The model is off by ${percent(worstOf(checked))} at the most. If a call always cost what it does with one API and one worker, ` +
      `it would be ${percent(worstOf(unfed))}.`,
    '**What is full first**, with one of each',
    fullFirstTable(ledger, elsewhere),
    `**What a rate takes**, with nothing used more than ${elsewhere.target * 100} %`,
    answerTable(ledger, elsewhere),
  ]);
  await drawScaling(join(DOCUMENTS, 'images'), ledger, elsewhere);
  // Where single windows are further apart than the model is off, the machine was too busy to say anything.
  const wrong = checked.filter((row) => Math.abs(offBy(row)) > Math.max(ALLOWED, row.apart));
  for (const { apis, workers } of wrong)
    console.log(`The model is wrong about ${apis} × ${workers}: off by more than ${percent(ALLOWED)}.`);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await machine.end();
}

/** Prints the tables and writes them into the document. */
async function publish(parts: readonly string[]): Promise<void> {
  const tables = parts.join('\n\n');
  console.log(tables);
  const path = join(DOCUMENTS, 'internals/scaling.md');
  await writeFile(path, withMeasured(await readFile(path, 'utf8'), 'scaling', tables));
}

type Operations = { worker: number; client: number; latencyUs: number };

/** Of one call at a time; without strace those that docs/internals/performance.md tells of. */
async function countOperations({ deployments, folder }: Machine): Promise<Operations> {
  const [first] = deployments;
  const url = first?.urls[0];
  if (!first || !url) throw new Error('there is no deployment');
  const callInTurn = async () => (await load(url, 1, 3)).calls;
  await callInTurn();
  const count = async (pid: number | undefined) =>
    pid === undefined ? undefined : (await countFileOperations(pid, callInTurn))?.perCall;
  const worker = (await count(first.workers[0]?.pid)) ?? 9;
  const client = (await count(first.client.pid)) ?? 5;
  return { worker, client, latencyUs: fileLatencyUs(folder) };
}

/** Every round visits every configuration once, so that a machine that is slower for a while is slower for all of them. */
async function measureRounds(machine: Machine): Promise<Window[]> {
  // Until the compiler has seen the code often enough.
  for (let workers = 1; workers <= WORKERS; workers++)
    await measureWindow(machine, { apis: APIS, workers, callers: CALLERS, seconds: WARM_UP_SECONDS });
  const windows: Window[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { apis, workers } of inOrderOf(round))
      windows.push(await measureWindow(machine, { apis, workers, callers: CALLERS, seconds: SECONDS }));
    console.error(`round ${round + 1} of ${ROUNDS} is over`);
  }
  return windows;
}

/** Calls that a machine refused which was busy with other things; more than a few would make the costs worthless. */
function tellFailures(windows: readonly Window[]): void {
  const failed = windows.filter((window) => window.failed > 0);
  const calls = failed.reduce((sum, window) => sum + window.failed, 0);
  if (calls === 0) return;
  const share = calls / windows.reduce((sum, { perSecond }) => sum + perSecond * SECONDS, calls);
  const text = `${calls} calls failed (${(share * 100).toFixed(1)} %), the first with ${failed[0]?.why}`;
  if (share > FAILED_ALLOWED) throw new Error(text);
  console.error(text);
}

function inOrderOf(round: number) {
  const stride = STRIDES[round % STRIDES.length] ?? 1;
  return configurations.flatMap((_, index) => configurations[(index * stride) % configurations.length] ?? []);
}

/** An API that has little to do at once wakes up for each call alone: the dearest corner counts. */
function ledgerOf(costsOf: CostModel, operations: Operations): Ledger {
  const at = (apis: number, workers: number) => costsOf({ apis, workers }).cost;
  const [one, mostApis, mostWorkers, most] = [at(1, 1), at(APIS, 1), at(1, WORKERS), at(APIS, WORKERS)];
  const all = [one, mostApis, mostWorkers, most];
  return {
    api: Math.max(...all.map(({ api }) => api)),
    worker: one.worker,
    heard: Math.max(0, mostWorkers.worker - one.worker) / (WORKERS - 1),
    redis: Math.max(...all.map(({ redis }) => redis)),
    workerFileOperations: operations.worker,
    clientFileOperations: operations.client,
  };
}
