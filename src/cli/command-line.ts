import { errnoOf } from '../shared/runtime/errno.ts';
import { givenIn } from '../shared/runtime/settings/settings.ts';
import { printError } from '../shared/runtime/telemetry/error-fields.ts';
import { runCommand } from './program.ts';

/** Runs one command in this process, with its environment, streams and signals, and sets its exit code. `services`: it can start them. */
export async function main(parameters: string[], { services = false } = {}): Promise<void> {
  // Node would print every member of an error: of Redis's also the command, with its input or its password.
  process.once('uncaughtException', (error) => {
    console.error(printError(error));
    process.exit(1);
  });
  const { stdin, stdout, stderr } = process;
  const readerLeft = toleratesLeavingReaders();
  const environment = givenIn(process.env);
  const onInterrupt = (listener: () => void) => void process.once('SIGINT', listener);
  const surroundings = { environment, stdin, stdout, stderr, readerLeft, onInterrupt };
  process.exitCode = await runCommand(parameters, surroundings, { services });
}

/**
 * Whoever reads what is printed may leave, as `head` does. That is no fault: what a command has begun it brings to its end, and what only
 * prints stops.
 */
function toleratesLeavingReaders(): AbortSignal {
  const left = new AbortController();
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (errnoOf(error) !== 'EPIPE') throw error;
      if (stream === process.stdout) left.abort();
    });
  return left.signal;
}
