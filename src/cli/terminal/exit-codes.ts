import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';

/** How a command ends, so that scripts need not read what it prints. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  rejected: 3,
  timedOut: 4,
  invalidResult: 5,
  cancelled: 6,
  unknown: 7,
  unreachable: 8,
  interrupted: 130,
} as const;

export const EXIT_CODES_HELP = `
Exit codes:
  0  the rule ran and succeeded
  1  the rule ran and failed: its error is printed
  2  the command line or the request is wrong; nothing ran
  3  rejected: no client or worker for it, or too much to do; nothing ran
  4  timed out: not picked up, no answer, or the client left
  5  the client wrote something that is not a result
  6  cancelled
  7  nobody knows whether it ran
  8  the API cannot be reached, or does not know the key
`;

/** The exit code of a call that was refused. What a gateway says, or a fault, does not tell whether it ran. */
export function exitCodeOfRefusal(status: number, mayHaveRun: boolean): number {
  if (status < 500) return exitCodes.usage;
  return status === 503 && !mayHaveRun ? exitCodes.rejected : exitCodes.unknown;
}

/** The exit code of an execution that has ended. */
export function exitCodeOf({ state, outcome }: Pick<ExecutionRecord, 'state' | 'outcome'>): number {
  if (outcome?.code === 'outcome-unknown') return exitCodes.unknown;
  if (outcome?.code === 'invalid-result') return exitCodes.invalidResult;
  switch (state) {
    case 'succeeded':
      return exitCodes.ok;
    case 'failed':
      return exitCodes.failed;
    case 'rejected':
      return exitCodes.rejected;
    case 'timed-out':
      return exitCodes.timedOut;
    case 'cancelled':
      return exitCodes.cancelled;
    default:
      return exitCodes.unknown;
  }
}
