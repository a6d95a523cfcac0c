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
    /** Whether who sent it may still read what it asked for: a stream stays open long after. */
    mayStay: (() => Promise<boolean>) | undefined;
    mockId: string | undefined;
    /** What a call is to run, for the audit log. */
    about: { app: number; ruleId: string | null; confId: string | null } | undefined;
    code: string | undefined;
  };
};
