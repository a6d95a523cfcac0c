import { onTestFinished, TestRunner } from 'vitest';

/**
 * Runs it when the running test is over, however that ended: a test that timed out goes on by itself, and what it began would disturb the
 * next one. Tests that run beside each other, and hooks, stop what is theirs themselves.
 */
export function atTestEnd(stop: () => Promise<void> | void): void {
  const test = TestRunner.getCurrentTest();
  if (test && !test.concurrent) onTestFinished(stop);
}
