import { configDefaults } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { suiteConfig } from '../support/suite-config.ts';

const LONG = ['retention.test.ts', 'published-endpoints.test.ts'];

/** The files that wait for minutes begin first, so that the others run meanwhile. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default suiteConfig({
  include: ['test/processes/*.test.ts'],
  // Minutes each: only when asked for.
  exclude: [
    ...configDefaults.exclude,
    ...(process.env.TWO_SERVERS ? [] : ['test/processes/two-servers.test.ts']),
    ...(process.env.STORE_SIZE_MB ? [] : ['test/processes/store-size.test.ts']),
  ],
  maxConcurrency: 12, // each has processes of its own, and what they are timed for begins with a start
  maxWorkers: 4, // they wait for deadlines and for each other's processes more than they work
  sequence: { sequencer: LongestFirst },
  // Starting takes a process ten times as long on a machine that is busy.
  testTimeout: 180_000,
  hookTimeout: 120_000,
});
