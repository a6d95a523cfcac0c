import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadSeconds, usage } from './processes.ts';
import type { Deployment, Machine } from './scale-machine.ts';
import { keepCalling } from './steady-load.ts';

/** Until as many calls end as begin, and what the window before left undone is done. */
const RAMP_MS = 1000;

export const KINDS = ['api', 'worker', 'redis', 'client', 'caller'] as const;
export type Kind = (typeof KINDS)[number];
export type PerKind = Record<Kind, number>;
export type Configuration = { apis: number; workers: number };

/** What a few seconds of load showed: the rate, what a call cost. */
export type Window = Configuration & {
  perSecond: number;
  failed: number;
  /** What the first failed call was answered. */
  why: string;
  /** µs of processor time a call, all threads of all processes of a kind together. */
  cost: PerKind;
  /** Of these, the main threads: JavaScript and the commands of Redis run on one thread of each process. */
  main: PerKind;
  /** Processors that nothing else took: what the called deployment used, and what was idle. */
  free: number;
};

type Load = Configuration & { callers: number; seconds: number };

/** Calls the first `apis` APIs of a deployment and measures the same seconds on all sides. */
export async function measureWindow(machine: Machine, { apis, workers, callers, seconds }: Load): Promise<Window> {
  const deployment = machine.deployments[workers - 1];
  if (!deployment) throw new Error(`no deployment has ${workers} workers`);
  const load = keepCalling(deployment.urls.slice(0, apis), callers);
  const look = () => ({
    at: performance.now(),
    idle: idleSeconds(),
    ...load.counted(),
    ...usedBy(deployment, machine.redis, apis),
  });
  await sleep(RAMP_MS);
  const before = look();
  await sleep(seconds * 1000);
  const after = look();
  await load.stop();
  const elapsed = (after.at - before.at) / 1000;
  const calls = after.calls - before.calls;
  if (calls === 0) throw new Error(`no call was answered in ${seconds} s: ${after.why}`);
  const used = perKind((kind) => after.used[kind] - before.used[kind]);
  const main = perKind((kind) => after.main[kind] - before.main[kind]);
  return {
    apis,
    workers,
    perSecond: calls / elapsed,
    failed: after.failed - before.failed,
    why: after.why,
    cost: perKind((kind) => (used[kind] * 1e6) / calls),
    main: perKind((kind) => (main[kind] * 1e6) / calls),
    free: (sumOf(used) + after.idle - before.idle) / elapsed,
  };
}

function usedBy({ workers, apis, client }: Deployment, redis: ChildProcess, called: number) {
  const processes = {
    api: apis.slice(0, called),
    worker: workers,
    redis: [redis],
    client: [client],
    caller: [process],
  };
  const sum = (kind: Kind, of: (pid: number) => number) =>
    processes[kind].reduce((total, { pid }) => total + (pid === undefined ? 0 : of(pid)), 0);
  return {
    used: perKind((kind) => sum(kind, (pid) => usage({ pid }).cpuSeconds)),
    main: perKind((kind) => sum(kind, mainThreadSeconds)),
  };
}

export function perKind(of: (kind: Kind) => number): PerKind {
  return { api: of('api'), worker: of('worker'), redis: of('redis'), client: of('client'), caller: of('caller') };
}

export function sumOf(parts: PerKind): number {
  return KINDS.reduce((sum, kind) => sum + parts[kind], 0);
}

/** Of all processors together, as Linux counts them in hundredths of a second. */
function idleSeconds(): number {
  const [, , , , idle, waiting] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/\s+/);
  return (Number(idle) + Number(waiting)) / 100;
}
