import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';

/** The route that answers a request, as it is written in the code; `other` when there is none. */
export function routeOf(context: Context): string {
  const path = matchedRoutes(context).findLast((route) => !route.path.includes('*'))?.path;
  return path === undefined ? 'other' : routeNameOf(path);
}

/** Hashed assets count as one route, because their names change with each release and each would be a new series. */
export const routeNameOf = (path: string): string => (path.startsWith('/assets/') ? '/assets/*' : path);
