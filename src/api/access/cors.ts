import { cors } from 'hono/cors';

/** Allows calls from pages of other origins (CORS_ORIGINS). They bring their own key; our session never leaves our site. */
export function letIn(origins: string[]) {
  return cors({
    origin: origins,
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowHeaders: [
      ...['authorization', 'content-type', 'prefer', 'idempotency-key', 'last-event-id', 'traceparent'],
      ...['if-match', 'if-none-match'],
    ],
    exposeHeaders: ['location', 'etag', 'retry-after', 'preference-applied', 'x-request-id'],
    maxAge: 600,
  });
}
