import { errnoOf } from './errno.ts';
import { printError } from './telemetry/error-fields.ts';

/** A pipe without a reader, and a terminal that was closed. */
const READER_LEFT = new Set(['EPIPE', 'EIO']);

/**
 * Prepares this process for a command or a service. An error that nobody caught ends it, printed without the members that Node would print: an
 * error of Redis has the command, with its input or its password. A reader of what is printed may leave, as `head` does: what was begun goes
 * on. The signal aborts when the reader of the standard output has left.
 */
export function prepareProcess(): AbortSignal {
  process.once('uncaughtException', (error) => {
    console.error(printError(error));
    process.exit(1);
  });
  const left = new AbortController();
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (!READER_LEFT.has(errnoOf(error))) throw error;
      if (stream === process.stdout) left.abort();
    });
  return left.signal;
}
