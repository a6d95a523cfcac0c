// `node bench/published-sdk.ts`: one caller of a client on the published Python SDK, which looks every millisecond, with files on a disk.
// Beside it one of a stand-in: it registers as that SDK does, and answers at once. TMPDIR names the disk.
import { cp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareSdk, sampleApp } from '../test/sdks/toolchains.ts';
import { tellFailures, tellLeftOut, tellMeasured } from './findings.ts';
import { load } from './load.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const [SDK_APP, STAND_IN_APP] = [7, 8];
/** Of `sampleApp`: it gives back a member of its input. */
const ECHO_RULE = 6;
const [TMPFS, POLL_SECONDS] = [0x01021994, 0.001];

if ((await statfs(tmpdir())).type === TMPFS)
  tellLeftOut(['publishedSdk'], `${tmpdir()} is in memory: set TMPDIR to a directory on a disk`);
else await measure();

async function measure(): Promise<void> {
  const { sharedDir, common, url, tearDown } = await setUp(undefined, tmpdir());
  await cp(sampleApp, join(sharedDir, String(SDK_APP)), { recursive: true });
  const sdk = await prepareSdk('python');
  const [api, worker] = [startService('api', common), startService('worker', common)];
  try {
    await untilReady(`${url}/readyz`);
    const parameters = [sharedDir, String(STAND_IN_APP), 'stand-in', '0', 'published'];
    const { child: standIn } = await startScript('./responder.ts', parameters);
    const instant = await alone(url, 'a stand-in for a published SDK, which answers at once', STAND_IN_APP);
    await stop(standIn);
    if (sdk.kind === 'ready') {
      // Only now: its looks take a part of a processor.
      const host = await sdk.start({ sharedDir, app: SDK_APP, pollSeconds: POLL_SECONDS, heartbeatSeconds: 2 });
      const published = await alone(url, 'the published Python SDK, which looks every ms', SDK_APP);
      await host.stop();
      const beside = `a stand-in that answers at once ${instant.toFixed(1)} ms`;
      tellMeasured('publishedSdk', published, `Python, looks every ms; ${beside}`);
    } else {
      console.log(`Without the published Python SDK: ${sdk.reason}`);
      tellMeasured('publishedSdk', instant, 'a stand-in that answers at once');
    }
  } finally {
    await stop(api, worker);
    await tearDown();
  }
}

async function alone(url: string, name: string, app: number): Promise<number> {
  const call = { app, ruleId: ECHO_RULE, 'the service': { uid: 1 } };
  tellFailures(`${name}, warming up`, await load(url, 4, 2, call));
  const one = await load(url, 1, SECONDS, call);
  const failures = tellFailures(name, one);
  console.log(`${name}, one at a time: p50 ${one.p50.toFixed(1)} ms  p99 ${one.p99.toFixed(1)} ms  ${failures}`);
  return one.p50;
}
