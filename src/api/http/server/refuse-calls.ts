import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { unanswered } from '../../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../../shared/contract/endings/no-answer.ts';
import type { Metrics } from '../../../shared/runtime/telemetry/metrics.ts';
import { type QueueHealth, whyAway } from '../../queue-health.ts';
import type { Environment } from '../environment.ts';
import type { Layer } from '../layers.ts';
import { problem, respondToEnding } from '../respond.ts';

/** `starting`: not ready yet. `leaving`: calls are taken, and `/readyz` says that this process stops. `stopping`: open calls finish, new ones are refused. `closing`: open ones are cut off. */
export type Phase = 'starting' | 'running' | 'leaving' | 'stopping' | 'closing';

const TAKES_CALLS = new Set<Phase>(['starting', 'running', 'leaving']);

export function wrongMethod(method: string, allowed: string[]): Response {
  return problem('wrong-method', { method, allowed: allowed.join(' or ') }, { headers: { allow: allowed.join(', ') } });
}

export function refuseWhileStopping(phase: () => Phase, { refused }: Pick<Metrics, 'refused'>): Layer {
  return (context) => {
    if (TAKES_CALLS.has(phase())) return undefined;
    const isCall = context.req.path.endsWith('/execute');
    if (isCall) refused('stopping');
    const response = isCall
      ? respondToEnding(context, randomUUID(), unanswered(stoppingOf(context)))
      : problem('process-stopping', {});
    response.headers.set('connection', 'close');
    return response;
  };
}

/** For a call under a key, an earlier one may have run. */
function stoppingOf({ req }: Context<Environment>) {
  return noAnswer(req.header('idempotency-key') === undefined ? 'stopping' : 'stopping-for-keyed', {});
}

/** Refuses at once, because a store that hangs would keep the caller waiting. */
export function refuseWithoutStore(health: QueueHealth): Layer {
  return () => (health.up ? undefined : withoutStore(health.full));
}

/** The answer to what cannot be done without the queue store. */
export function withoutStore(full: string | null = null): Response {
  return problem('store-away', whyAway(full));
}
