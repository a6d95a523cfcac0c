import { configDefaults } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { suiteConfig } from '../support/suite-config.ts';

const LONG = ['retention.test.ts', 'published-endpoints.test.ts'];

/** These fill the processors, and look at how long that takes: one after another, when the others are over. */
const ALONE = ['directory-faults', 'fail-over', 'overload', 'restarts', 'sharing', 'worker-faults'].map(
  (name) => `test/processes/${name}.test.ts`,
);

/** The files that wait for minutes begin first, so that the others run meanwhile. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default suiteConfig({
  projects: [
    {
      extends: true,
      test: {
        name: 'together',
        include: ['test/processes/*.test.ts'],
        // Minutes each: only when asked for.
        exclude: [
          ...configDefaults.exclude,
          ...ALONE,
          ...(process.env.TWO_SERVERS ? [] : ['test/processes/two-servers.test.ts']),
          ...(process.env.STORE_SIZE_MB ? [] : ['test/processes/store-size.test.ts']),
        ],
        maxWorkers: 4, // they wait for deadlines and for each other's processes more than they work
        sequence: { groupOrder: 1 },
      },
    },
    { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
  ],
  sequence: { sequencer: LongestFirst },
  maxConcurrency: 12, // each has processes of its own, and what they are timed for begins with a start
  // Starting takes a process ten times as long on a machine that is busy.
  testTimeout: 180_000,
  hookTimeout: 120_000,
});
