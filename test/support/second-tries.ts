import { appendFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/**
 * Names every test that needed a second try: each is a defect of the test or of the product. With SECOND_TRIES_FILE the
 * lines are also added to that file, so that a run of several suites can list them all at its end.
 */
export function secondTryReporter(file = process.env.SECOND_TRIES_FILE): Reporter {
  return {
    onTestRunEnd(modules) {
      for (const module of modules) {
        for (const test of module.children.allTests()) {
          if ((test.diagnostic()?.retryCount ?? 0) === 0) continue;
          const line = `needed a second try: ${module.relativeModuleId} > ${test.fullName}\n`;
          process.stdout.write(line);
          if (file) appendFileSync(file, line);
        }
      }
    },
  };
}
