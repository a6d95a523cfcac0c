import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

const LINES_SHOWN = 6;

type Errors = NonNullable<ReturnType<TestCase['result']>['errors']>;

/**
 * Names every test that failed, and every file or group whose own hooks failed: each is a defect of the test or of the product.
 * With FAILURES_FILE the lines are also added to that file, so that a run of several suites can list them all at its end.
 */
export function failureReporter(file = process.env.FAILURES_FILE): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const lines = [
        ...modules.flatMap((module) => [...failuresIn(module, module.relativeModuleId)]),
        ...unhandledErrors.map((error) => lineOf('outside of any test', [error])),
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
  if (ofHooks.length > 0) yield lineOf(`${name}, before or after its tests`, ofHooks);
  for (const child of parent.children) {
    if (child.type === 'suite') yield* failuresIn(child, `${name} > ${child.name}`);
    else yield* failureOf(child, `${name} > ${child.name}`);
  }
}

function* failureOf(test: TestCase, name: string): Generator<string> {
  const { state, errors = [] } = test.result();
  if (state === 'failed') yield lineOf(name, errors);
}

type Failure = Pick<Errors[number], 'message' | 'stacks' | 'diff' | 'cause'>;

/** Which test failed, where, and what its first error says. A random case that failed has what was wrong with it as the cause. */
function lineOf(name: string, errors: readonly Failure[]): string {
  const [error] = errors;
  if (!error) return `failed: ${name}\n`;
  const [frame] = error.stacks ?? [];
  const where = frame ? `at ${basename(frame.file)}:${frame.line}: ` : '';
  const lines = [...saidBy(error), ...(error.cause ? ['because of', ...saidBy(error.cause)] : [])];
  return `failed: ${name}\n  ${where}${lines.join('\n  ')}\n`;
}

/** The first lines of an error, and of two values that differ the first lines that do. */
function saidBy({ message, diff }: Failure): string[] {
  const differing = stripVTControlCharacters(diff ?? '').match(/^[-+]\s.*$/gm) ?? [];
  return [...message.split('\n').slice(0, LINES_SHOWN), ...differing.slice(0, LINES_SHOWN)];
}
