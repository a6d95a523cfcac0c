import { z } from 'zod';
import { resultWithin } from './shared/runtime/async.ts';
import { prepareProcess } from './shared/runtime/prepare-process.ts';
import { BadSettings, misspeltSettings, readSettings } from './shared/runtime/settings/settings.ts';
import { createLogger, type Logger } from './shared/runtime/telemetry/logger.ts';

/** A signal waits so long for the rest of the start: without its queue store an API listens after 5 s, and Kubernetes kills after 30. */
const STARTS_WITHIN_MS = 25_000;

type Running = { stop(): Promise<void> };

/** Starts the service that a command names, with the settings of the environment, and stops it on SIGTERM or SIGINT. */
export async function serve(command: string): Promise<void> {
  prepareProcess();
  try {
    const settings = readSettings(process.env);
    const log = createLogger({ level: settings.LOG_LEVEL, role: command });
    const { promise: started, resolve: isStarted } = Promise.withResolvers<Running>();
    stopOnSignal(started, log);
    for (const { name, meant } of misspeltSettings(process.env))
      log.warn({ name, meant }, `${name} is no setting and is ignored; did you mean ${meant}?`);
    const { startOf } = await import('./services.ts');
    const start = startOf(command);
    if (start) isStarted(await start({ settings, log }));
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    console.error(sentence);
    process.exit(1); // what was opened before it would keep the process
  }
}

/** A fault that keeps a service from starting and that the operator can mend. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof BadSettings) return error.message;
  const { code, address, port } = listenErrorSchema.safeParse(error).data ?? {};
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${address} is in use: stop what listens there, or choose another PORT or WORKER_PORT.`;
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `Nothing can listen on port ${port} of ${address} (${code}): choose another HOST, PORT or WORKER_PORT.`;
  return undefined;
}

const listenErrorSchema = z.object({
  syscall: z.literal('listen'),
  code: z.string(),
  address: z.string().optional(),
  port: z.number().optional(),
});

/** A signal that comes while the service starts stops it as well: an API takes calls, and a worker jobs, before all of it has started. */
function stopOnSignal(started: Promise<Running>, log: Logger): void {
  let stopping = false;
  const stopStarted = async () => {
    const running = await resultWithin(STARTS_WITHIN_MS, { of: started, late: () => undefined });
    if (!running) throw new Error(`it had not started ${STARTS_WITHIN_MS / 1000} s after the signal`);
    await running.stop();
  };
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    stopStarted().then(
      () => {
        log.info('stopped');
        process.exit(0);
      },
      (error) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
