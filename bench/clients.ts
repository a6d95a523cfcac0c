// `node bench/clients.ts`: what a thousand registered clients cost, beside one client in the same run.
import { failuresOf } from './failures.ts';
import { type Load, load } from './load.ts';
import { median } from './median.ts';
import { startScript, startService, stop, untilReady, usage } from './processes.ts';
import { NODES_EACH, RULES, writeRules } from './rule-files.ts';
import { setUp } from './set-up.ts';

const ROUNDS = 6;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
const CLIENTS = 1000;
const CALLERS = [1, 50];
const [ALONE, MOSTLY_DEAD, ALL_ONLINE] = [1, 2, 3];

const { sharedDir, common, url, tearDown } = await setUp();

const scenarios = [
  { name: 'one client', call: { app: ALONE } },
  { name: `${CLIENTS} registered, one online`, call: { app: MOSTLY_DEAD } },
  { name: `${CLIENTS} online, one addressed`, call: { app: ALL_ONLINE, target: 'address:10.0.0.7_client' } },
  { name: `${CLIENTS} online, any of them`, call: { app: ALL_ONLINE } },
];

try {
  for (const app of [ALONE, MOSTLY_DEAD, ALL_ONLINE]) await writeRules(sharedDir, app);
  const clients = await Promise.all([
    startScript('./many-clients.ts', [sharedDir, String(ALONE), '1']),
    startScript('./many-clients.ts', [sharedDir, String(MOSTLY_DEAD), String(CLIENTS), 'one']),
    startScript('./many-clients.ts', [sharedDir, String(ALL_ONLINE), String(CLIENTS)]),
  ]);
  const api = startService('api', common);
  const worker = startService('worker', common);
  await untilReady(`${url}/readyz`);
  for (const callers of CALLERS) await compareExecute(callers);
  await measureSchema();
  console.log(`the worker afterwards: ${usage(worker).megabytes.toFixed(0)} MB`);
  await stop(api, worker, ...clients.map(({ child }) => child));
} finally {
  await tearDown();
}

/** Round by round, one scenario after the other: what the machine does meanwhile hits all of them. */
async function compareExecute(callers: number): Promise<void> {
  const loads = scenarios.map((): Load[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, { call }] of scenarios.entries()) {
      loads[at]?.push(await load(url, callers, SECONDS, { ruleId: 1, ...call }));
    }
  }
  // The first one warms up.
  const [alone = Number.NaN, ...others] = loads.map((each) => median(each.slice(1).map(({ p50 }) => p50)));
  console.log(`\nexecute, ${callers} at a time             median p50   × one client   failed`);
  for (const [at, { name }] of scenarios.entries()) {
    const p50 = [alone, ...others][at] ?? Number.NaN;
    console.log(
      `  ${name.padEnd(32)} ${p50.toFixed(2).padStart(7)} ms ${(p50 / alone).toFixed(2).padStart(12)}    ${failuresOf(loads[at] ?? [])}`,
    );
  }
}

async function measureSchema(): Promise<void> {
  console.log(`\nschema over HTTP, ${CLIENTS} registered clients, ${RULES} rules of ${NODES_EACH} nodes`);
  for (const name of ['first time', 'again', 'warm']) {
    const times: number[] = [];
    for (let rule = 1; rule <= RULES; rule++) {
      const startedAt = performance.now();
      const response = await fetch(`${url}/rule-server/mock/schema?app=${ALL_ONLINE}&ruleId=${rule}`);
      const { fields } = (await response.json()) as { fields: unknown[] };
      times.push(performance.now() - startedAt);
      if (fields.length < 30) throw new Error('the schema is not what was written');
    }
    times.sort((a, b) => a - b);
    console.log(`  ${name.padEnd(12)} p50 ${median(times).toFixed(1)} ms   p99 ${times.at(-2)?.toFixed(1)} ms`);
    if (name === 'again') await new Promise((resolve) => setTimeout(resolve, 2100)); // until every file is settled
  }
}
