import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import { countLine } from './count-line.ts';
import type {} from './global-setup.ts';

const HOW_TO_GET_REDIS =
  'Start Docker, or install redis-server, or set TEST_REDIS_URL=redis://…, and run npm test again.';
const HOW_TO_GET_THE_PROGRAM = 'Some need the redis-server program itself: install it and run npm test again.';

/** A continuous integration run sets this: what cannot run here then fails the run instead of being left out. */
function requireAllSuites(environment: NodeJS.ProcessEnv = process.env): boolean {
  return environment.RULE_SERVER_REQUIRE_ALL_SUITES === '1';
}

/**
 * Says in one line which suites a run left out and how to run them, and ends with the plain count. With
 * RULE_SERVER_REQUIRE_ALL_SUITES=1 a suite or test left out fails the run.
 */
export function leftOutReporter(): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit(started) {
      vitest = started;
    },
    onTestRunEnd(modules, unhandledErrors) {
      // With -t everything that does not match is "skipped", because it was asked for.
      const skipped = vitest?.config.testNamePattern ? [] : modules.flatMap((module) => leftOutIn(module));
      if (skipped.length > 0) {
        print(`\nLeft out: ${skipped.map(titleOf).join('; ')}. ${remedy(vitest)}`);
        if (requireAllSuites()) {
          print('RULE_SERVER_REQUIRE_ALL_SUITES=1: nothing may be left out, so this run has failed.');
          process.exitCode = 1;
        }
      }
      print(`${countLine(modules, unhandledErrors.length)}, ${skipped.length} left out`);
    },
  };
}

/** The outermost things that did not run: a suite whose tests were all skipped counts once. */
function leftOutIn(parent: TestModule | TestSuite): (TestSuite | TestCase)[] {
  return parent.children.array().flatMap((child) => {
    if (child.type === 'test') return wasSkipped(child) ? [child] : [];
    const tests = [...child.children.allTests()];
    return tests.length > 0 && tests.every(wasSkipped) ? [child] : leftOutIn(child);
  });
}

function wasSkipped(test: TestCase): boolean {
  return test.result().state === 'skipped' && test.options.mode !== 'todo';
}

function titleOf(left: TestSuite | TestCase): string {
  return `${left.module.relativeModuleId} > ${left.fullName}`;
}

function remedy(vitest: Vitest | undefined): string {
  const { redis, hasRedisBinary } = vitest?.getRootProject().getProvidedContext() ?? {};
  if (redis?.kind === 'unavailable') return `There is no Redis (${redis.reason}). ${HOW_TO_GET_REDIS}`;
  return hasRedisBinary === false ? HOW_TO_GET_THE_PROGRAM : 'Install what they need and run npm test again.';
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
