import { createMiddleware } from 'hono/factory';
import type { QueueHealth } from '../queue-health.ts';
import type { Environment } from './environment.ts';
import { problem } from './respond.ts';

/** `starting`: not ready yet. `stopping`: open calls finish, new ones are refused. `closing`: open ones are cut off. */
export type Phase = 'starting' | 'running' | 'stopping' | 'closing';

/** 405 with what is allowed instead. */
export function wrongMethod(method: string, allowed: string[]): Response {
  return problem(405, `${method} is not supported here; use ${allowed.join(' or ')}.`, {
    headers: { allow: allowed.join(', ') },
  });
}

/** Lets nothing new begin in a process that stops. */
export function refuseWhileStopping(phase: () => Phase) {
  return createMiddleware<Environment>(async (_context, next) => {
    if (phase() === 'starting' || phase() === 'running') return next();
    return problem(
      503,
      'This API process is stopping. The call was not run; send it again, another process takes it.',
      {
        headers: { connection: 'close', 'retry-after': '1' },
      },
    );
  });
}

/** 503 at once: a store that hangs would keep a caller waiting. */
export function refuseWithoutStore(health: QueueHealth) {
  return createMiddleware<Environment>(async (_context, next) => (health.up ? next() : withoutStore()));
}

/** The answer to what cannot be done without the queue store. */
export function withoutStore(): Response {
  const error = 'The queue store cannot be reached. Nothing was run; try again in a moment.';
  return problem(503, error, { headers: { 'retry-after': '2' } });
}
