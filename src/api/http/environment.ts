import type { HttpBindings } from '@hono/node-server';

/** What a request carries through the middleware. `keyName`, `mockId` and `code` end up in its log line. */
export type Environment = {
  Bindings: HttpBindings;
  Variables: { requestId: string; keyName: string | undefined; mockId: string | undefined; code: string | undefined };
};
