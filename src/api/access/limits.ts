import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import type { Audit } from '../../shared/runtime/access/audit.ts';
import type { Caller, Limits } from '../../shared/runtime/access/caller.ts';
import { together } from '../../shared/runtime/async.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import type { Layer } from '../http/middleware.ts';
import { isRead } from '../http/parameters.ts';
import { problem, REFUSALS_MS } from '../http/respond.ts';
import { callerOf } from './authenticate.ts';

/** Token bucket and open calls of one caller. */
type Use = {
  calls: number;
  at: number;
  openCalls: number;
  streams: number;
  batches: number;
  beginRead: ReturnType<typeof createReadTurns>;
};

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
      return problem(LIMITS[reached], { name, limit: limits[reached] }, { headers: rateOf(use, limits) });
    }
    use.calls -= 1;
    const rate = rateOf(use, limits);
    use[kind] += 1;
    const { outgoing } = context.env;
    const closed = new Promise<void>((resolve) => (outgoing.destroyed ? resolve() : outgoing.once('close', resolve)));
    // Counts until the execution ends, even if the caller does not wait or has left.
    const leave = () => {
      for (const [header, value] of Object.entries(rate)) context.res.headers.set(header, value);
      void Promise.allSettled([closed, context.var.openUntil]).then(() => {
        use[kind] -= 1;
      });
    };
    if (!isRead(context.req.method) || kind === 'streams') return leave;
    return use.beginRead().then((endRead) => () => {
      endRead();
      leave();
    });
  };
}

/** The calls that a key has left in this second, as the IETF's draft of RateLimit headers says it. */
const rateOf = ({ calls }: Use, { callsPerSecond }: Limits) => ({
  'ratelimit-policy': `"calls";q=${callsPerSecond};w=1`,
  ratelimit: `"calls";r=${Math.floor(calls)};t=1`,
});

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

/** A trusted proxy may name any number of persons. After a second without a call a bucket is full again, and its entry says nothing. */
function forgetIdle(uses: Map<string, Use>, now: number): void {
  for (const [name, { at, openCalls, streams, batches }] of uses) {
    if (openCalls + streams + batches === 0 && now - at > 1000) uses.delete(name);
  }
}

/** So many refusals of an address in a second have log lines of their own. Further ones share one. */
const AUDITED_A_SECOND = 20;
const MAX_HELD = 1000;
const MAX_ADDRESSES = 10_000;

type Refused = { who: string | null; outcome: string; calls: number };
type Source = { left: number; at: number; held: number; pending: Map<string, Refused>; tell: () => void };

/**
 * Bounds the cost of refused callers by address. Accepted callers at the same address are not affected, because many may share one behind a
 * proxy.
 */
export function limitRefusals(log: Logger, audit: Audit): Layer {
  const sources = new LRUCache<string, Source>({ max: MAX_ADDRESSES });

  function sourceOf(address: string): Source {
    const now = performance.now();
    const source = sources.get(address) ?? newSource(address, now);
    source.left = Math.min(AUDITED_A_SECOND, source.left + ((now - source.at) / 1000) * AUDITED_A_SECOND);
    source.at = now;
    sources.set(address, source);
    return source;
  }

  function newSource(from: string, at: number): Source {
    const pending: Source['pending'] = new Map();
    const tell = together(REFUSALS_MS, () => {
      const refused = [...pending.values()].reduce((sum, { calls }) => sum + calls, 0);
      log.warn({ from, refused }, 'requests were refused: they come faster than each can have a line');
      for (const each of pending.values()) audit.tell({ what: 'refused requests', from, ...each });
      pending.clear();
    });
    return { left: AUDITED_A_SECOND, at, held: 0, pending, tell };
  }

  return (context) => async () => {
    const { from, keyName, caller } = context.var;
    const { status } = context.res;
    const isRefused = status === 403 || status === 429 || (status >= 400 && caller === undefined);
    if (!isRefused) return;
    const source = sourceOf(from);
    const hasLine = source.left >= 1;
    if (hasLine) source.left -= 1;
    else {
      context.set('auditedInBulk', true);
      source.tell();
      const [who, outcome] = [keyName ?? null, String(status)];
      const calls = (source.pending.get(`${outcome} ${who}`)?.calls ?? 0) + 1;
      source.pending.set(`${outcome} ${who}`, { who, outcome, calls });
    }
    if ((hasLine && status !== 429) || source.held >= MAX_HELD) return;
    source.held += 1;
    await pause(REFUSALS_MS);
    source.held -= 1;
  };
}

const AT_ONCE = 2;
/** A read that takes longer waits for a worker or the store, not for this process, and gives its slot back. */
const MAX_TURN_MS = 200;
/** A slot rests for twice the time that its read took, up to this much, so that other keys get most of the time. */
const MAX_REST_MS = 100;

/** Limits concurrent reads per key, because many at once would block the event loop for the calls of others. */
export function createReadTurns() {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function rest(turn: Promise<unknown>): Promise<void> {
    const startedAt = performance.now();
    await Promise.race([turn, pause(MAX_TURN_MS)]);
    await pause(Math.min(2 * (performance.now() - startedAt), MAX_REST_MS));
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  /** Acquires a slot; resolves to its release function. */
  return async function begin(): Promise<() => void> {
    if (running < AT_ONCE) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    const turn = Promise.withResolvers<void>();
    void rest(turn.promise);
    return turn.resolve;
  };
}
