import { type Logger as Pino, pino } from 'pino';

export type Logger = Pino;

/** JSON lines on standard output. Inputs, outputs and keys of executions never go in here. */
export function createLogger({ level, role }: { level: string; role: string }): Logger {
  return pino({ level, base: { role, pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime });
}

/**
 * Reports an incident once, however many calls it hits: the first failure warns, repetitions stay silent, and the
 * first success after it says how long it lasted.
 */
export function createIncident(log: Logger, what: string) {
  let since: number | undefined;
  return {
    begins(error: unknown, advice: string) {
      if (since !== undefined) return;
      since = Date.now();
      log.warn({ err: error instanceof Error ? error : new Error(String(error)) }, `${what}: ${advice}`);
    },
    ends() {
      if (since === undefined) return;
      log.info({ lastedMs: Date.now() - since }, `${what}: over`);
      since = undefined;
    },
  };
}
