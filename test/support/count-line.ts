import type { TestModule } from 'vitest/node';

/** What a suite ends with, and what a continuous integration run adds up: "N passed, N failed". */
export function countLine(modules: readonly TestModule[], errorsOutside: number): string {
  const failed = count(modules, 'failed') + modules.filter(failedAsAWhole).length + errorsOutside;
  return `${count(modules, 'passed')} passed, ${failed} failed`;
}

function count(modules: readonly TestModule[], state: 'passed' | 'failed'): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
}

/** A file that could not be loaded, or whose own hooks failed, has failed without a single failed test. */
function failedAsAWhole(module: TestModule): boolean {
  return module.state() === 'failed' && module.children.allTests('failed').next().done === true;
}
