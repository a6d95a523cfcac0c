import type { Logger } from '../../../shared/runtime/telemetry/logger.ts';
import type { Layer } from '../layers.ts';
import type { ClientAddress } from './client-address.ts';

/** One log line per request except probes, with the id that the answer carries (`x-request-id`). */
export function logAccess(log: Logger, clientAddress: ClientAddress): Layer {
  return (context) => {
    const startedAt = performance.now();
    context.set('from', clientAddress.of(context.env.incoming));
    return () => {
      const { method, path } = context.req;
      context.res.headers.set('x-request-id', context.var.requestId);
      if (path === '/healthz' || path === '/readyz' || context.var.toldTogether) return;
      const ms = Math.round(performance.now() - startedAt);
      const { requestId, from, mockId, code, keyName } = context.var;
      log.info({ requestId, from, mockId, code, keyName, method, path, status: context.res.status, ms }, 'request');
    };
  };
}
