import type { Context } from 'hono';
import { anybody, type Caller, isFor, type Permission } from '../../shared/runtime/access/caller.ts';
import type { Environment } from '../http/environment.ts';
import { layers } from '../http/layers.ts';
import { problem } from '../http/respond.ts';

/**
 * Refuses callers without a permission and names it. Each file of `src/api/routes` says which permission its routes need;
 * docs/run/security.md lists them. A key's permissions are in the keys file, and a key of `API_KEYS` has all. Apps are checked by
 * `refusedApp` and by filters in the routes.
 */
export function needs(which: Permission | ((context: Context<Environment>) => Permission)) {
  return layers((context) => refusedPermission(context, typeof which === 'function' ? which(context) : which));
}

export function refusedPermission(context: Context<Environment>, permission: Permission): Response | undefined {
  const { name, may } = callerOf(context);
  if (may.has(permission)) return undefined;
  const has = may.size === 0 ? 'nothing' : [...may].join(', ');
  return problem('no-permission', { permission, name: `${name}`, has });
}

export function refusedApp(context: Context<Environment>, app: number): Response | undefined {
  context.set('about', { ...context.var.about, app });
  const caller = callerOf(context);
  if (isFor(caller, app) || caller.apps === null) return undefined;
  return problem('other-apps', { app, name: `${caller.name}`, apps: listed(caller.apps) });
}

type Asked = { app: number; ruleId?: unknown; confId?: unknown; batchId?: string | null };

export function tellAbout(context: Context<Environment>, { app, ruleId, confId, batchId }: Asked): void {
  const text = (id: unknown) => (id === null || id === undefined ? null : String(id));
  const about = { app, ruleId: text(ruleId), confId: text(confId), ...(batchId && { batchId }) };
  context.set('about', about);
}

export function callerOf(context: Context<Environment>): Caller {
  return context.var.caller ?? anybody;
}

function listed(apps: ReadonlySet<number>): string {
  return apps.size === 0 ? 'no app' : `app ${[...apps].join(', ')}`;
}
