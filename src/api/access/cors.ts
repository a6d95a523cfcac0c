import { cors } from 'hono/cors';

/** Allows pages of other origins (CORS_ORIGINS) with a key of their own; the session cookie is same-site. */
export function letIn(origins: string[]) {
  return cors({
    origin: origins,
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowHeaders: [
      ...['authorization', 'content-type', 'prefer', 'idempotency-key', 'last-event-id', 'traceparent'],
      ...['if-match', 'if-none-match'],
    ],
    exposeHeaders: [
      ...['location', 'etag', 'retry-after', 'preference-applied', 'x-request-id'],
      ...['idempotent-replayed', 'ratelimit', 'ratelimit-policy'],
    ],
    maxAge: 600,
  });
}
