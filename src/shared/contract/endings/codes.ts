/** The end states of executions that no client answered. */
type EndState = 'failed' | 'timed-out' | 'cancelled' | 'rejected';

/** `fault`: of the directory, or of the client: an operator has to look, and the log warns of it. */
type Row = { status: number; state: EndState; retryAfterSeconds?: number; fault?: true };

/**
 * The one table: what each code means in HTTP and as the end state of the execution. `src/api/http/respond.ts` writes the status, and the
 * Retry-After of this row, or that of a cause below. A call that is refused for load before it is read gets the seconds that it would
 * wait: `src/api/overload/overload.ts` reckons them, and `src/api/http/server/refuse-early.ts` writes them.
 */
export const outcomes = {
  'no-client': { status: 503, state: 'rejected' },
  'client-offline': { status: 503, state: 'rejected' },
  'channel-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 5, fault: true },
  'no-worker': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  overloaded: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  stopping: { status: 503, state: 'rejected', retryAfterSeconds: 1 },
  'queue-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'outcome-unknown': { status: 503, state: 'failed', fault: true },
  fenced: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'not-picked-up': { status: 504, state: 'timed-out', fault: true },
  'no-answer': { status: 504, state: 'timed-out', fault: true },
  'client-left': { status: 504, state: 'timed-out', fault: true },
  'invalid-result': { status: 502, state: 'failed', fault: true },
  'client-ignored-dry-run': { status: 502, state: 'failed' },
  cancelled: { status: 409, state: 'cancelled' },
  cycle: { status: 422, state: 'rejected' },
  'bad-request': { status: 400, state: 'rejected' },
} as const satisfies Record<string, Row>;

export type Code = keyof typeof outcomes;
export const codes: readonly Code[] = Object.keys(outcomes).filter(isCode);

/** Whether this version knows a code. */
export function isCode(text: string | null): text is Code {
  return text !== null && Object.hasOwn(outcomes, text);
}

/** Seconds after which it is worth a try again, by cause: in answers without a code, and in place of the row's own where one is given. */
export const retryAfterSeconds = {
  /** This API process stops; another one takes the call. */
  stopping: 1,
  /** A limit of the caller's key: of calls a second, or of what is open. */
  limit: 1,
  /** Other searches that this API is busy with. */
  search: 1,
  /** Memory for bodies. */
  memory: 2,
  /** The queue store, or an API of a newer version. */
  store: 2,
  /** No worker could answer a question, or there is no room for another batch. */
  worker: 5,
} as const;

/** The row of one code. */
export function outcomeOf(code: Code): Row {
  return outcomes[code];
}
