import { printError } from './shared/runtime/error-fields.ts';
import { createLogger, type Logger } from './shared/runtime/logger.ts';
import { BadSettings, readSettings } from './shared/runtime/settings.ts';

const SERVICES = new Set(['api', 'worker', 'all', 'demo-client']);

type Running = { stop(): Promise<void> };

/**
 * The one door: the only reader of the environment, of signals, and of how the process ends. Starts what the command
 * names and stops it on SIGTERM or SIGINT; every other command runs to its end.
 */
export async function main(parameters: string[]): Promise<void> {
  const [command = '', ...more] = parameters;
  // Node would print every member of an error: of Redis's also the command, with its input or its password.
  process.once('uncaughtException', (error) => {
    console.error(printError(error));
    process.exit(1);
  });
  if (SERVICES.has(command) && more.length === 0) return serve(command);
  // Each loads only what it needs: a command line that answers a person starts at once.
  const { runCommand } = await import('./cli/program.ts');
  const { env: environment, stdin, stdout, stderr } = process;
  const onInterrupt = (listener: () => void) => void process.once('SIGINT', listener);
  process.exitCode = await runCommand(parameters, { environment, stdin, stdout, stderr, onInterrupt });
}

async function serve(command: string): Promise<void> {
  try {
    const settings = readSettings(process.env);
    const log = createLogger({ level: settings.LOG_LEVEL, role: command });
    const { startOf } = await import('./services.ts');
    const running = await startOf(command)?.({ settings, log });
    if (running) stopOnSignal(running, log);
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

function stopOnSignal(running: Running, log: Logger): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    running.stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
