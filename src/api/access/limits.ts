import { Counter } from 'prom-client';
import type { Caller, Limits } from '../../shared/runtime/access/caller.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import type { Layer } from '../http/layers.ts';
import { isRead } from '../http/parameters.ts';
import { problem } from '../http/respond.ts';
import { callerOf } from './permission.ts';
import { createReadTurns } from './read-turns.ts';

/** Token bucket and open calls of one caller. */
type Use = {
  calls: number;
  at: number;
  openCalls: number;
  streams: number;
  batches: number;
  beginRead: ReturnType<typeof createReadTurns>;
};

const MAX_FORGOTTEN_AFTER_MS = 60_000;

/**
 * Rate and concurrency limits per key; without keys there are none. The bucket holds one second of calls. Running batches are counted in
 * the store (`api/batches/create-batch.ts`), everything else in this API alone.
 */
export function limitCallers(defaults: Limits, { registry }: Metrics): Layer {
  const uses = new Map<string, Use>();
  const refused = new Counter({
    name: 'rule_server_limited_total',
    help: 'Requests that were refused because their key was at one of its limits.',
    labelNames: ['limit'],
    registers: [registry],
  });
  for (const limit of Object.keys(LIMITS)) refused.inc({ limit }, 0);

  function openUse(name: string, now: number, full: number): Use {
    let use = uses.get(name);
    if (!use) {
      use = { calls: full, at: now, openCalls: 0, streams: 0, batches: 0, beginRead: createReadTurns() };
      uses.set(name, use);
      forgetIdle(uses, now);
    }
    return use;
  }

  return (context) => {
    const { name, limits: own } = callerOf(context);
    if (name === null || context.var.caller === undefined) return undefined;
    const limits: Limits = { ...defaults, ...defined(own) };
    context.set('maxBatches', limits.batches);
    const now = performance.now();
    const use = openUse(name, now, limits.callsPerSecond);
    use.calls = Math.min(limits.callsPerSecond, use.calls + ((now - use.at) / 1000) * limits.callsPerSecond);
    use.at = now;
    const kind = kindOf(context.req.method, context.req.path);
    const reached = use.calls < 1 ? 'callsPerSecond' : use[kind] >= limits[kind] ? kind : undefined;
    if (reached) {
      refused.inc({ limit: reached });
      return problem(LIMITS[reached], { name, limit: limits[reached] });
    }
    use.calls -= 1;
    use[kind] += 1;
    const { outgoing } = context.env;
    const closed = new Promise<void>((resolve) => (outgoing.destroyed ? resolve() : outgoing.once('close', resolve)));
    // Counts until the execution ends, even if the caller does not wait or has left.
    const leave = () =>
      void Promise.allSettled([closed, context.var.openUntil]).then(() => {
        use[kind] -= 1;
      });
    if (!isRead(context.req.method) || kind === 'streams') return leave;
    return use.beginRead().then((endRead) => () => {
      endRead();
      leave();
    });
  };
}

const LIMITS = {
  callsPerSecond: 'too-many-calls-of-key',
  openCalls: 'too-many-open-calls',
  streams: 'too-many-streams',
  batches: 'too-many-batches-of-key',
} as const;

function kindOf(method: string, path: string): 'openCalls' | 'streams' | 'batches' {
  if (path.endsWith('/events')) return 'streams';
  return method === 'POST' && /\/(batches|report)$/.test(path) ? 'batches' : 'openCalls';
}

function defined(limits: Caller['limits']): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

/** A trusted proxy may name any number of persons, so idle entries are evicted. */
function forgetIdle(uses: Map<string, Use>, now: number): void {
  for (const [name, { at, openCalls, streams, batches }] of uses) {
    if (openCalls + streams + batches === 0 && now - at > MAX_FORGOTTEN_AFTER_MS) uses.delete(name);
  }
}
