// What one hostile key at full speed costs the calls of another, at the default limits: the same calls, alone and beside it, in one run.
// Needs Linux and a redis-server on PATH (or REDIS_URL); starts everything else itself.
import { attack, callPolitely } from '../test/support/hostile-key.ts';
import { countFailures } from './failures.ts';
import { tellFailures } from './findings.ts';
import { median } from './median.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const CALLS = 200;
const PACED_MS = 10;
const [HOSTILE, POLITE] = ['the-key-of-hostile-here', 'the-key-of-polite-here'];

const { sharedDir, common: own, url, tearDown } = await setUp(process.env.REDIS_URL);

try {
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const API_KEYS = `hostile:${HOSTILE},polite:${POLITE}`;
  const common = { ...own, API_KEYS };
  const services = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  const callers = { url, hostile: HOSTILE, polite: POLITE };
  await paced('warming up', callers);
  for (const what of ['long lists', 'runs and lists'] as const) {
    const alone = await paced('alone', callers);
    const over = new AbortController();
    const attacked = attack(callers, over.signal, what);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const beside = await paced(`beside ${what} of a hostile key`, callers);
    const { status } = await fetch(`${url}/readyz`);
    over.abort();
    const answers = [...(await attacked)].map(([code, count]) => `${count} × ${code}`).join(', ');
    console.log(`p50 of a call alone ${alone.toFixed(1)} ms, beside ${what} of a hostile key ${beside.toFixed(1)} ms:`);
    console.log(`${(beside / alone).toFixed(2)} times; the hostile key got ${answers}; /readyz ${status}`);
  }
  for (const service of [...services, responder]) await stop(service);
} finally {
  await tearDown();
}

async function paced(name: string, callers: Parameters<typeof callPolitely>[0]): Promise<number> {
  const times: number[] = [];
  const failures = countFailures();
  for (let made = 0; made < CALLS; made++) {
    const { p50, statuses } = await callPolitely(callers, 1);
    times.push(p50);
    for (const [status, calls] of statuses) if (status !== 200) failures.add(`status ${status}`, calls);
    await new Promise((resolve) => setTimeout(resolve, PACED_MS));
  }
  console.log(`${CALLS} calls ${name}: ${tellFailures(`a polite key, ${name}`, failures.soFar())}`);
  return median(times);
}
