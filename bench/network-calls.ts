import { startDeployment } from './deployment.ts';
import { tellFailures } from './findings.ts';
import { load } from './load.ts';
import type { Mount } from './network-mount.ts';
import { startScript, stop, usage } from './processes.ts';
import { writeRules } from './rule-files.ts';

/** A service over a mount, and at the other side a client for each app; its rules take so many ms. */
export async function openMount({ name, pollMs, open }: Mount, apps: ReadonlyMap<number, number>) {
  await using started = new AsyncDisposableStack();
  const network = started.use(await open());
  for (const [app, ms] of apps) {
    const parameters = [network.behind, String(app), 'bench', String(ms), 'own', String(pollMs)];
    const { child } = await startScript('./responder.ts', parameters);
    started.defer(() => stop(child));
    await writeRules(network.behind, app);
  }
  const { url, worker } = started.use(await startDeployment({ SHARED_DIR: network.path }));
  const parts = started.move();
  return {
    path: network.path,
    /** Calls an app. `cpuUs`: of the worker, a call; `requests`: over the connection, a call. */
    async calls(what: string, { app, callers, seconds }: Record<'app' | 'callers' | 'seconds', number>) {
      const [before, cpuBefore] = [await network.requests(), usage(worker).cpuSeconds];
      const made = await load(url, callers, seconds, { app });
      const cpuUs = ((usage(worker).cpuSeconds - cpuBefore) / made.calls) * 1e6;
      const requests = perCall(before, await network.requests(), made.calls);
      return { ...made, cpuUs, requests, failures: tellFailures(`${name}, ${what}`, made) };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function perCall(before: Map<string, number>, after: Map<string, number>, calls: number) {
  const each = [...after].map(([kind, times]) => ({ kind, times: (times - (before.get(kind) ?? 0)) / calls }));
  const most = each.filter(({ times }) => times >= 0.1).toSorted((a, b) => b.times - a.times);
  return {
    all: each.reduce((sum, { times }) => sum + times, 0),
    each: most.map(({ kind, times }) => `${kind} ${times.toFixed(1)}`).join(', ') || 'not counted',
  };
}
