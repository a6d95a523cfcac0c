/** The end states of executions that no client answered. */
type EndState = 'failed' | 'timed-out' | 'cancelled' | 'rejected';

/** `fault`: of the directory, or of the client: an operator has to look, and the log warns of it. */
type Row =
  | { status: 503; state: EndState; retryAfterSeconds: number; fault?: true }
  | { status: 400 | 409 | 422 | 502 | 504; state: EndState; fault?: true };

/**
 * What each code means in HTTP and as the end state of the execution. A 503 says that it did not run, and when to try again; `statusOf`
 * makes a 504 of it where that is not sure.
 */
export const outcomes = {
  'no-client': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  'client-offline': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  'channel-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 5, fault: true },
  'no-worker': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  overloaded: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  stopping: { status: 503, state: 'rejected', retryAfterSeconds: 1 },
  'queue-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  fenced: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'outcome-unknown': { status: 504, state: 'failed', fault: true },
  'not-picked-up': { status: 504, state: 'timed-out', fault: true },
  'no-answer': { status: 504, state: 'timed-out', fault: true },
  'client-left': { status: 504, state: 'timed-out', fault: true },
  'invalid-result': { status: 502, state: 'failed', fault: true },
  'client-ignored-dry-run': { status: 502, state: 'failed' },
  cancelled: { status: 409, state: 'cancelled' },
  cycle: { status: 422, state: 'rejected' },
  'key-reused': { status: 422, state: 'rejected' },
  'bad-request': { status: 400, state: 'rejected' },
} as const satisfies Record<string, Row>;

export type Code = keyof typeof outcomes;
export const codes: readonly Code[] = Object.keys(outcomes).filter(isCode);

/** Whether this version knows a code. */
function isCode(text: string | null): text is Code {
  return text !== null && Object.hasOwn(outcomes, text);
}

/** Whether the code is a fault of the directory or the client. */
export const isFault = (code: Code): boolean => 'fault' in outcomes[code];

/** The HTTP status of an ending: 503 invites a repeat, so it is only used for what did not run. */
export function statusOf({ code, mayHaveRun }: { code: Code; mayHaveRun: boolean }): number {
  const { status } = outcomes[code];
  return status === 503 && mayHaveRun ? 504 : status;
}
