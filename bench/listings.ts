// `node bench/listings.ts`: how often a second a worker lists directories of a local file system, where events arrive: while nothing
// is open, and while one call is. Counted with strace.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, failuresIn } from './call-once.ts';
import { tellFailures, tellLeftOut, tellMeasured } from './findings.ts';
import type { GoalName } from './goals.ts';
import { load } from './load.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';
import { traceFiles } from './trace-files.ts';

const COUNTED_MS = 15_000;
/** Until what the last call left behind is looked at no more. */
const SETTLING_MS = 3000;

const { sharedDir, common, url, tearDown } = await setUp();
try {
  const { child: client } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  // An answer that an event told of proves to the worker that events arrive.
  console.log(`calls before: ${tellFailures('listings, calls before', await load(url, 1, 2))}`);
  await sleep(SETTLING_MS);
  await count(worker, 'idleListings', 'nothing open');
  const call = callOnce(url, { 'the service': { waitMs: COUNTED_MS + 2 * SETTLING_MS } });
  await sleep(SETTLING_MS);
  await count(worker, 'openListings', 'one call open');
  console.log(`that call: ${tellFailures('listings, the open call', failuresIn([await call]))}`);
  await stop(api, worker, client);
} finally {
  await tearDown();
}

async function count({ pid }: { pid?: number | undefined }, goal: GoalName, when: string): Promise<void> {
  const traced = pid === undefined ? undefined : await traceFiles(pid, () => sleep(COUNTED_MS));
  if (!traced) return tellLeftOut([goal], 'listings are counted with strace, which cannot be used here');
  const listings = traced.operations.filter(({ parameters }) => parameters.includes('O_DIRECTORY'));
  const perSecond = listings.length / traced.seconds;
  console.log(`${when}: ${perSecond.toFixed(1)} directories listed a second`);
  tellMeasured(goal, perSecond);
}
