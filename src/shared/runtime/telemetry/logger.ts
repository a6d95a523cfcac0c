import { type DestinationStream, type LoggerOptions, type Logger as Pino, pino } from 'pino';
import { cut, visible } from '../../contract/json/visible-text.ts';
import { perProcess } from '../../ports/process.ts';
import { time } from '../../ports/time.ts';
import { errorFields } from './error-fields.ts';

export type Logger = Pino;

/** Callers choose paths and names, so they are cut: one caller could fill the disk otherwise. */
export const LOGGED_LENGTH = 500;

/** The trace that a line belongs to. Set by whoever traces. */
export const traceOfLog = perProcess(() => ({
  now: (): { trace_id: string; span_id: string } | undefined => undefined,
}));

/** JSON lines on standard output, or `to`. Inputs, outputs and keys of executions never go in here. */
export function createLogger({ level, role }: { level: string; role: string }, to?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => traceOfLog().now() ?? {},
    formatters: {
      log: (members) =>
        Object.fromEntries(
          Object.entries(members).map(([name, value]) => [
            name,
            typeof value === 'string' ? cut(value, LOGGED_LENGTH) : value,
          ]),
        ),
    },
    serializers: {
      err: (given: unknown) =>
        given instanceof Expected ? errorFields(given.error, { withStack: false }) : errorFields(given),
    },
    // JSON does not escape bidirectional marks, which a terminal would apply.
    hooks: { streamWrite: (line) => `${visible(line.trimEnd())}\n` },
  };
  return pino(options, to ?? standardOutput());
}

/**
 * A line that cannot be written (the terminal was closed, the disk is full) is lost, and the next one is tried anew: pino would write that line
 * again and again, and nothing else would happen.
 */
function standardOutput(): DestinationStream {
  let output: DestinationStream | null = null;
  const open = () => {
    const opened = pino.destination(1);
    opened.on('error', () => {
      output = null;
      opened.destroy(); // a standard output stays open
    });
    return opened;
  };
  return {
    write(line) {
      output ??= open();
      output.write(line);
    },
  };
}

/** An error caused outside this program, so its stack tells an operator nothing. */
class Expected {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** An incident ends with the first success after this long without a failure, so that a flapping fault stays one incident. */
const QUIET_MS = 5000;

export type ThrottledAlert = ReturnType<typeof createThrottledAlert>;

/**
 * Logs one warning per incident and one line at its end with its duration, however many calls fail. `withStack`: if a defect of ours may be
 * the cause.
 */
export function createThrottledAlert(log: Logger, what: string, { withStack = false } = {}) {
  let current: { since: number; failedAt: number } | undefined;
  return {
    /** Something failed. */
    begins(error: unknown, advice: string) {
      const now = time.now();
      if (current) {
        current.failedAt = now;
        return;
      }
      current = { since: now, failedAt: now };
      const cause = error instanceof Error ? error : new Error(String(error));
      log.warn({ err: withStack ? cause : new Expected(cause) }, `${what}: ${advice}`);
    },
    /** Something worked. To be called again and again. */
    ends() {
      if (!current || time.now() - current.failedAt < QUIET_MS) return;
      log.info({ lastedMs: current.failedAt - current.since }, `${what}: over`);
      current = undefined;
    },
  };
}
