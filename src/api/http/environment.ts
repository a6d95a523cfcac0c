import type { HttpBindings } from '@hono/node-server';
import type { Caller } from '../../shared/runtime/access/caller.ts';

type About = { app: number; ruleId?: string | null; confId?: string | null; batchId?: string };

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
    /** The app, the rule and the batch of a request, for the audit log. */
    about: About | undefined;
    /** The paths of the input that were searched by. */
    searchedPaths: string[] | undefined;
    /** How many batches of its key may run at once. */
    maxBatches: number | undefined;
    /** Resolves when the execution ends that this request began: until then it counts as open. */
    openUntil: Promise<unknown> | undefined;
    /** Whether the answer shows inputs, or what cases hold of them. */
    readsInput: boolean | undefined;
    code: string | undefined;
    /** Whether its refusal has no line of its own in the logs. */
    toldTogether: boolean | undefined;
    /** The names of the parameters that its route knows. */
    parameters: readonly string[] | undefined;
  };
};
