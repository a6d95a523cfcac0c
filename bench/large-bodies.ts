// `node bench/large-bodies.ts`: how much memory an API and a worker take at most while many calls with large inputs come at once, and how the
// calls end. Those whose bodies find no room in time (MAX_OPEN_BODY_BYTES) are refused. Linux.
//   CALLS=600  BYTES=1000000  ROUNDS=3
import { readFileSync } from 'node:fs';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const { CALLS = '600', BYTES = '1000000', ROUNDS = '3' } = process.env;
const APP = 1;

const { sharedDir, common, url, tearDown } = await setUp(process.env.REDIS_URL);
try {
  const { child: client } = await startScript('./responder.ts', [sharedDir, String(APP), 'bench']);
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  const body = JSON.stringify({ app: APP, ruleId: 1, 'the service': { text: 'x'.repeat(Number(BYTES)) } });
  for (let round = 1; round <= Number(ROUNDS); round++) {
    const endings = await Promise.all(Array.from({ length: Number(CALLS) }, () => call(body)));
    const counts = [...Map.groupBy(endings, (ending) => ending)].map(([ending, all]) => `${all.length} × ${ending}`);
    const peaks = `API ${peakMegabytes(api.pid)} MB, worker ${peakMegabytes(worker.pid)} MB at most so far`;
    console.log(`${CALLS} calls of ${BYTES} bytes, round ${round}: ${peaks}; ${counts.join(', ')}`);
  }
  await stop(api, worker, client);
} finally {
  await tearDown();
}

async function call(body: string): Promise<string> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const response = await fetch(`${url}/rule-server/mock/execute`, options);
  const text = await response.text();
  return response.status === 200 ? '200' : `${response.status} ${/"code":"([\w-]+)"/.exec(text)?.[1]}`;
}

function peakMegabytes(pid: number | undefined): number {
  const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return Math.round(kilobytes / 1024);
}
