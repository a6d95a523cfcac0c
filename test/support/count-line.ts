import { appendFileSync, writeFileSync } from 'node:fs';
import type { TestModule } from 'vitest/node';

/** More than these are no accident of a busy machine. */
const FILES_AT_MOST = 5;

/**
 * What a suite ends with, and what a continuous integration run adds up: "N passed, N failed". With TRY_AGAIN_FILE, a few files
 * that failed are named in that file instead of counted: .ci/suite.sh runs them once more.
 */
export function countLine(modules: readonly TestModule[], errorsOutside: number): string {
  const file = errorsOutside === 0 ? process.env.TRY_AGAIN_FILE : undefined;
  const again = file ? filesToTryAgain(modules) : [];
  if (file) for (const { relativeModuleId } of again) appendFileSync(file, `${relativeModuleId}\n`);
  const counted = modules.filter((module) => !again.includes(module));
  const failed = count(counted, 'failed') + counted.filter(failedAsAWhole).length + errorsOutside;
  return `${count(counted, 'passed')} passed, ${failed} failed`;
}

/** Fails the run for what no second try of a file puts right. */
export function failWholeRun(): void {
  process.exitCode = 1;
  if (process.env.TRY_AGAIN_FILE) writeFileSync(process.env.TRY_AGAIN_FILE, '');
  delete process.env.TRY_AGAIN_FILE;
}

function filesToTryAgain(modules: readonly TestModule[]): TestModule[] {
  const failed = modules.filter((module) => module.state() === 'failed');
  return failed.length <= FILES_AT_MOST ? failed : [];
}

function count(modules: readonly TestModule[], state: 'passed' | 'failed'): number {
  return modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
}

/** A file that could not be loaded, or whose own hooks failed, has failed without a single failed test. */
function failedAsAWhole(module: TestModule): boolean {
  return module.state() === 'failed' && module.children.allTests('failed').next().done === true;
}
