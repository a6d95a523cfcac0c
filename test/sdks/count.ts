import type { Reporter } from 'vitest/node';
import { countLine } from '../support/count-line.ts';

/** Ends a run with the line that the continuous integration run counts. What was left out has been said before. */
export function countReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      process.stdout.write(`${countLine(modules, unhandledErrors.length)}\n`);
    },
  };
}
