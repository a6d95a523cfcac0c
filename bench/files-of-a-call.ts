// `node bench/files-of-a-call.ts [checkout]`: which files of the source one plain call enters, in an API and a worker on Redis. V8 counts
// the functions that ran during a call; files in which functions ran in a quiet time as well, and no oftener, are not of the call.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { callOnce } from './call-once.ts';
import { load } from './load.ts';
import { freePort, startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

/** Functions that run by time: what ran in this long beside no call is not of a call. */
const QUIET_MS = 3000;
const CALLS = 20;

type Coverage = { result: { url: string; functions: { ranges: { count: number }[] }[] }[] };

const checkout = process.argv[2] ?? join(import.meta.dirname, '..');
const { common, url, sharedDir, tearDown } = await setUp();
const debugPort = await freePort();
try {
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const service = startService('all', { ...common, NODE_OPTIONS: `--inspect=127.0.0.1:${debugPort}` }, checkout);
  await untilReady(url);
  await load(url, 4, 2);
  const debug = await openDebugger(debugPort);
  await debug.ask('Profiler.enable');
  await debug.ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const quiet = await countsIn(() => delay(QUIET_MS));
  const during = await countsIn(async () => {
    for (let call = 0; call < CALLS; call++) {
      const { why } = await callOnce(url);
      if (why !== undefined) throw new Error(`a call failed: ${why}`);
    }
  });
  report(
    [...during].filter(([path, count]) => count >= CALLS && count > 2 * (quiet.get(path) ?? 0)).map(([path]) => path),
  );
  debug.close(); // the service waits for its debugger to leave before it ends
  await stop(service, responder);

  /** How often functions of each file of the source ran while something was done. */
  async function countsIn(what: () => Promise<unknown>): Promise<Map<string, number>> {
    await debug.ask('Profiler.takePreciseCoverage');
    await what();
    const { result } = (await debug.ask('Profiler.takePreciseCoverage')) as Coverage;
    const own = result.filter(
      ({ url: at }) => at.startsWith('file:') && fileURLToPath(at).startsWith(join(checkout, 'src/')),
    );
    const counts = own.map(({ url: at, functions }): [string, number] => [
      fileURLToPath(at).slice(checkout.length + 1),
      Math.max(0, ...functions.map(({ ranges }) => ranges[0]?.count ?? 0)),
    ]);
    return new Map(counts.filter(([, count]) => count > 0));
  }
} finally {
  await tearDown();
}

function report(paths: string[]): void {
  const lines = (path: string) => readFileSync(join(checkout, path), 'utf8').split('\n').length;
  const byPart = Map.groupBy(paths, (path) => path.split('/').slice(0, 2).join('/'));
  for (const [part, files] of [...byPart].toSorted()) {
    console.log(`${part}: ${files.length} files, ${sum(files.map(lines))} lines`);
    for (const path of files.toSorted()) console.log(`  ${path}`);
  }
  console.log(`One plain call enters ${paths.length} files with ${sum(paths.map(lines))} lines.`);
}

/** A way to ask the debugger of a process. */
async function openDebugger(port: number) {
  const listed = await fetch(`http://127.0.0.1:${port}/json`);
  const [{ webSocketDebuggerUrl }]: [{ webSocketDebuggerUrl: string }] = JSON.parse(await listed.text());
  const socket = new WebSocket(webSocketDebuggerUrl);
  const waiting = new Map<number, (result: unknown) => void>();
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  let last = 0;
  return {
    close: () => socket.close(),
    ask: (method: string, params: object = {}): Promise<unknown> =>
      new Promise((resolve) => {
        waiting.set(++last, resolve);
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
