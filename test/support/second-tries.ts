import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Reporter, TestCase } from 'vitest/node';

const LINES_SHOWN = 6;

/**
 * Names every test that needed a second try, and what went wrong in its first: each is a defect of the test or of the product. With SECOND_TRIES_FILE the
 * lines are also added to that file, so that a run of several suites can list them all at its end.
 */
export function secondTryReporter(file = process.env.SECOND_TRIES_FILE): Reporter {
  return {
    onTestRunEnd(modules) {
      for (const module of modules) {
        for (const test of module.children.allTests()) {
          if ((test.diagnostic()?.retryCount ?? 0) === 0) continue;
          const line = `needed a second try: ${module.relativeModuleId} > ${test.fullName}${reasonOf(test)}\n`;
          process.stdout.write(line);
          if (file) appendFileSync(file, line);
        }
      }
    },
  };
}

/** Where the first try failed, and the first lines of its error. */
function reasonOf(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  if (!error) return '';
  const [frame] = error.stacks ?? [];
  const where = frame ? ` at ${basename(frame.file)}:${frame.line}` : '';
  return `\n  the first${where}: ${error.message.split('\n').slice(0, LINES_SHOWN).join('\n  ')}`;
}
