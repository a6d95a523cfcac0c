import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Audit } from '../../shared/runtime/access/audit.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Layer } from '../http/layers.ts';

/** Further refusals of an address within a second share one log line. */
const TOLD_A_SECOND = 20;
const TOGETHER_EVERY_MS = 1000;
/** Delays those refusals and every 429, because a caller that repeats at once would take time from the others. */
const HOLD_MS = 500;
const MAX_HELD = 1000;
const MAX_ADDRESSES = 10_000;

type Untold = { who: string | null; outcome: string; calls: number };
type Source = { left: number; at: number; held: number; untold: Map<string, Untold> };

/**
 * Bounds the cost of refused callers by address. Accepted callers at the same address are not affected, because many may share one behind a
 * proxy.
 */
export function limitRefusals(log: Logger, audit: Audit): Layer {
  const sources = new LRUCache<string, Source>({ max: MAX_ADDRESSES });

  function sourceOf(address: string): Source {
    const now = performance.now();
    const source = sources.get(address) ?? { left: TOLD_A_SECOND, at: now, held: 0, untold: new Map() };
    source.left = Math.min(TOLD_A_SECOND, source.left + ((now - source.at) / 1000) * TOLD_A_SECOND);
    source.at = now;
    sources.set(address, source);
    return source;
  }

  function tellTogether(from: string, { untold }: Source): void {
    const refused = [...untold.values()].reduce((sum, { calls }) => sum + calls, 0);
    log.warn({ from, refused }, 'requests were refused: they come faster than each can have a line');
    for (const each of untold.values()) audit.tell({ what: 'refused requests', from, ...each });
    untold.clear();
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
      context.set('toldTogether', true);
      if (source.untold.size === 0) setTimeout(tellTogether, TOGETHER_EVERY_MS, from, source).unref();
      const [who, outcome] = [keyName ?? null, String(status)];
      const calls = (source.untold.get(`${outcome} ${who}`)?.calls ?? 0) + 1;
      source.untold.set(`${outcome} ${who}`, { who, outcome, calls });
    }
    if ((hasLine && status !== 429) || source.held >= MAX_HELD) return;
    source.held += 1;
    await pause(HOLD_MS);
    source.held -= 1;
  };
}
