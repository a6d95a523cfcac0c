import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';

/** The route that answers a request, as it is written in the code; `other` when there is none. */
export function routeOf(context: Context): string {
  return matchedRoutes(context).findLast(({ path }) => !path.includes('*'))?.path ?? 'other';
}
