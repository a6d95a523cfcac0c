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

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The meaning of each exit code, the same in every command; docs/use/command-line.md has this table, too. */
const MEANINGS: Record<ExitCode, string> = {
  0: 'done, and everything is as it should be',
  1: 'something is not as it should be: a rule failed, a case or an outcome differs, a check failed',
  2: 'the command line, a file or the request is wrong; nothing ran',
  3: 'nothing or nobody is there, its state does not allow it, or there is too much to do; nothing ran',
  4: 'not picked up, no answer, or the client left; of several, some were not answered',
  5: 'the client wrote something that is not a result',
  6: 'cancelled',
  7: 'nobody knows whether it ran',
  8: 'the API cannot be reached, does not know the key, or cannot answer now',
  130: 'Ctrl-C',
};

/** The exit codes of a command for its --help. `own`: what a code means for this command, where that can be said more exactly. */
export function exitCodesHelp(codes: readonly ExitCode[], own: Partial<Record<ExitCode, string>> = {}): string {
  const lines = codes.map((code) => `  ${String(code).padEnd(3)}  ${own[code] ?? MEANINGS[code]}`);
  return `\nExit codes:\n${lines.join('\n')}\n`;
}

export const EXIT_CODES_HELP = exitCodesHelp([0, 1, 2, 3, 4, 5, 6, 7, 8, 130]);

const REJECTED = new Set([404, 409, 429]);

/** The exit code of a call to run something that was refused. What a gateway says, or a fault, does not tell whether it ran. */
export function exitCodeOfRefusal(status: number, mayHaveRun: boolean): ExitCode {
  if (mayHaveRun) return exitCodes.unknown;
  if (status < 500) return exitCodeOfAnswer(status);
  return status === 503 ? exitCodes.rejected : exitCodes.unknown;
}

/** The exit code of any other call that was refused. */
export function exitCodeOfAnswer(status: number): ExitCode {
  if (status >= 500) return exitCodes.unreachable;
  return REJECTED.has(status) ? exitCodes.rejected : exitCodes.usage;
}

/** The exit code of an execution that has ended. */
export function exitCodeOf({ state, ending }: Pick<ExecutionRecord, 'state' | 'ending'>): ExitCode {
  if (ending?.code === 'outcome-unknown') return exitCodes.unknown;
  if (ending?.code === 'invalid-result') return exitCodes.invalidResult;
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
