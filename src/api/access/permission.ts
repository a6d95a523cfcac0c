import type { Context } from 'hono';
import { anybody, type Caller, isFor, type Permission } from '../../shared/runtime/access/caller.ts';
import type { Environment } from '../http/environment.ts';
import { layers } from '../http/layers.ts';
import { problem } from '../http/respond.ts';

/**
 * Refuses callers without a permission, and says which one they lack. Each file of `src/api/routes` says which one a route needs. Which
 * ones a key has is written in the file of keys (`src/shared/runtime/access/keys-file.ts`); a key of `API_KEYS` may do everything. How much it
 * may do at once: `limits.ts`. Roughly: `read` for GET, `run` to execute, for batches and pins, `cancel` for DELETE, `cases` for saved
 * cases, `ops` for erasing, `/metrics` and `/ops`. For which apps: `refusedApp` here, and filters in the routes. Where neither keys nor
 * `TRUSTED_USER_HEADER` are set, everybody may do everything.
 */
export function needs(which: Permission | ((context: Context<Environment>) => Permission)) {
  return layers((context) => refusedPermission(context, typeof which === 'function' ? which(context) : which));
}

/** The reason to refuse a caller without a permission; undefined if it has it. */
export function refusedPermission(context: Context<Environment>, permission: Permission): Response | undefined {
  const { name, may } = callerOf(context);
  if (may.has(permission)) return undefined;
  const has = may.size === 0 ? 'nothing' : [...may].join(', ');
  return problem('no-permission', { permission, name: `${name}`, has });
}

/** The reason to refuse a caller an app; undefined if it may use it. */
export function refusedApp(context: Context<Environment>, app: number): Response | undefined {
  context.set('about', { ...context.var.about, app });
  const caller = callerOf(context);
  if (isFor(caller, app) || caller.apps === null) return undefined;
  return problem('other-apps', { app, name: `${caller.name}`, apps: listed(caller.apps) });
}

type Asked = { app: number; ruleId?: unknown; confId?: unknown; batchId?: string | null };

/** Says in the logs which app, rule and batch a request is about. */
export function tellAbout(context: Context<Environment>, { app, ruleId, confId, batchId }: Asked): void {
  const text = (id: unknown) => (id === null || id === undefined ? null : String(id));
  const about = { app, ruleId: text(ruleId), confId: text(confId), ...(batchId && { batchId }) };
  context.set('about', about);
}

/** The caller of this request. */
export function callerOf(context: Context<Environment>): Caller {
  return context.var.caller ?? anybody;
}

function listed(apps: ReadonlySet<number>): string {
  return apps.size === 0 ? 'no app' : `app ${[...apps].join(', ')}`;
}
