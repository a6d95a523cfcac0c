import type { HttpBindings } from '@hono/node-server';
import type { Caller } from '../../shared/runtime/caller.ts';

/** What a request carries through the middleware. `from`, `keyName`, `mockId` and `code` end up in its log line. */
export type Environment = {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** The address it comes from. */
    from: string;
    /** Who sends it, once that is known. */
    caller: Caller | undefined;
    keyName: string | undefined;
    mockId: string | undefined;
    code: string | undefined;
  };
};
