import type { Reporter } from 'vitest/node';

/** Ends a run with the line that the continuous integration run counts. What was left out has been said before. */
export function countReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const count = (state: 'passed' | 'failed') =>
        modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
      const broken = modules.filter((module) => module.state() === 'failed' && module.children.size === 0).length;
      process.stdout.write(`${count('passed')} passed, ${count('failed') + broken + unhandledErrors.length} failed\n`);
    },
  };
}
