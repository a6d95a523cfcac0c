import type { HttpBindings } from '@hono/node-server';
import type { Caller } from '../../shared/runtime/access/caller.ts';

type About = { app: number; ruleId?: string | null; confId?: string | null; batchId?: string };

/** The variables of a request's Hono context. `from`, `keyName`, `mockId` and `code` go into its log line. */
export type Environment = {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    from: string;
    caller: Caller | undefined;
    keyName: string | undefined;
    /** Whether the caller may still read. Streams check it repeatedly, because they stay open for long. */
    mayStay: (() => Promise<boolean>) | undefined;
    mockId: string | undefined;
    /** For the audit log. */
    about: About | undefined;
    searchedPaths: string[] | undefined;
    maxBatches: number | undefined;
    /** Resolves when the execution of this request ends: until then it counts as an open call. */
    openUntil: Promise<unknown> | undefined;
    /** Whether the answer shows inputs, which the audit log records. */
    readsInput: boolean | undefined;
    code: string | undefined;
    auditedInBulk: boolean | undefined;
    parameters: readonly string[] | undefined;
  };
};
