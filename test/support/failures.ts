import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

const LINES_SHOWN = 6;

type Errors = NonNullable<ReturnType<TestCase['result']>['errors']>;

/**
 * Names every test that failed, every file or group whose own hooks failed, and every test that needed a second try: each is a
 * defect of the test or of the product. With FAILURES_FILE the lines are also added to that file, so that a run of several
 * suites can list them all at its end.
 */
export function failureReporter(file = process.env.FAILURES_FILE): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const lines = [
        ...modules.flatMap((module) => [...failuresIn(module, module.relativeModuleId)]),
        ...unhandledErrors.map((error) => lineOf('failed', 'outside of any test', [error])),
      ];
      for (const line of lines) {
        process.stdout.write(line);
        if (file) appendFileSync(file, line);
      }
    },
  };
}

function* failuresIn(parent: TestModule | TestSuite, name: string): Generator<string> {
  const ofHooks = parent.errors();
  if (ofHooks.length > 0) yield lineOf('failed', `${name}, before or after its tests`, ofHooks);
  for (const child of parent.children) {
    if (child.type === 'suite') yield* failuresIn(child, `${name} > ${child.name}`);
    else yield* failureOf(child, `${name} > ${child.name}`);
  }
}

function* failureOf(test: TestCase, name: string): Generator<string> {
  const { state, errors = [] } = test.result();
  if (state === 'failed') yield lineOf('failed', name, errors);
  else if ((test.diagnostic()?.retryCount ?? 0) > 0) yield lineOf('needed a second try', name, errors);
}

/** What happened to which test, where, and the first lines of the first error; of two values that differ, the first lines that do. */
function lineOf(
  what: string,
  name: string,
  errors: readonly Pick<Errors[number], 'message' | 'stacks' | 'diff'>[],
): string {
  const [error] = errors;
  if (!error) return `${what}: ${name}\n`;
  const [frame] = error.stacks ?? [];
  const where = frame ? `at ${basename(frame.file)}:${frame.line}: ` : '';
  const differing = stripVTControlCharacters(error.diff ?? '').match(/^[-+]\s.*$/gm) ?? [];
  const lines = [...error.message.split('\n').slice(0, LINES_SHOWN), ...differing.slice(0, LINES_SHOWN)];
  return `${what}: ${name}\n  ${where}${lines.join('\n  ')}\n`;
}
