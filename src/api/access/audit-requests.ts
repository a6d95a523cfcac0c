import type { Context } from 'hono';
import type { Audit } from '../../shared/runtime/access/audit.ts';
import type { Environment } from '../http/environment.ts';
import type { Layer } from '../http/middleware.ts';

const RUNS = ['/rule-server/mock/execute', '/ice-server/mock/execute'];
const EXECUTION = /^\/rule-server\/mock\/executions\/([0-9a-f-]{36})$/;

/** Writes runs, cancels, reads of inputs, other changes, sign-ins and refusals to the audit log. */
export function auditRequests(audit: Audit): Layer {
  return (context) => () => {
    const what = context.var.auditedInBulk ? undefined : whatWas(context);
    if (what === undefined) return;
    const { from, keyName, mockId, code, about, searchedPaths: paths } = context.var;
    const { status } = context.res;
    audit.tell({
      what,
      who: keyName ?? null,
      from,
      ...about,
      paths,
      mockId: mockId ?? EXECUTION.exec(context.req.path)?.[1],
      outcome: code === undefined ? String(status) : `${status} ${code}`,
    });
  };
}

function whatWas(context: Context<Environment>): string | undefined {
  const { method, path } = context.req;
  const { status } = context.res;
  if (status === 401) return 'failed sign-in';
  if (status === 403 || status === 429) return `refused ${method} ${path}`;
  if (path === '/session' && method !== 'GET') return method === 'DELETE' ? 'sign-out' : 'sign-in';
  if (RUNS.includes(path)) return 'run';
  if (EXECUTION.test(path))
    return method === 'DELETE' ? (context.req.query('erase') === 'true' ? 'erase' : 'cancel') : 'read of an input';
  if (context.var.readsInput) return 'read of inputs';
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? undefined : `${method} ${path}`;
}
