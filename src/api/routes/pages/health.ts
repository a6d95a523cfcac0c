import { Hono } from 'hono';
import { causeOf } from '../../../shared/reasons/causes.ts';
import type { Environment } from '../../http/environment.ts';
import type { QueueHealth } from '../../queue-health.ts';

/** /healthz: this process lives. /readyz: it can take calls; the body tells how many workers there are. */
export function healthRoutes({ health, isReady }: { health: QueueHealth; isReady: () => boolean }) {
  return new Hono<Environment>()
    .get('/healthz', (context) => context.json({ status: 'ok' }))
    .get('/readyz', (context) => {
      const { up, reason, workers, problems, waiting, active } = health;
      const ready = isReady() && up;
      return context.json(
        {
          status: ready ? 'ready' : 'not ready',
          queue: up ? 'up' : 'down',
          reason,
          workers,
          problems: problems.map(causeOf),
          waiting,
          active,
        },
        ready ? 200 : 503,
      );
    });
}
