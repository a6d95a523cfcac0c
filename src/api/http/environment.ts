import type { HttpBindings } from '@hono/node-server';
import type { Caller } from '../../shared/runtime/caller.ts';

/** The values that a request carries through the middleware. `from`, `keyName`, `mockId` and `code` end up in its log line. */
export type Environment = {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** The address it comes from. */
    from: string;
    /** The caller, once it is known. */
    caller: Caller | undefined;
    keyName: string | undefined;
    /** Whether the caller may still read what it asked for. Asked again and again, because a stream stays open for long. */
    mayStay: (() => Promise<boolean>) | undefined;
    mockId: string | undefined;
    /** The target of a call, for the audit log. */
    about: { app: number; ruleId: string | null; confId: string | null } | undefined;
    code: string | undefined;
  };
};
