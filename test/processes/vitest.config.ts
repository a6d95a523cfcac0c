import { configDefaults } from 'vitest/config';
import { suiteConfig } from '../support/suite-config.ts';

/** What runs for each change (`npm run test:processes`); all of them run every night (`test:processes:all`). */
const EACH_CHANGE = [
  'batch-take-over',
  'full-disk',
  'hanging-directory',
  'killed-store',
  'killed-worker',
  'redis-faults',
  'replaced-directories',
  'restarts',
  'sentinel-fail-over',
  'sharing',
].map((name) => `test/processes/${name}.test.ts`);

export default suiteConfig({
  projects: [
    { extends: true, test: { name: 'each-change', include: EACH_CHANGE } },
    {
      extends: true,
      test: {
        name: 'nightly',
        include: ['test/processes/*.test.ts'],
        exclude: [
          ...configDefaults.exclude,
          ...EACH_CHANGE,
          // Minutes: only when asked for.
          ...(process.env.STORE_SIZE_MB ? [] : ['test/processes/store-size.test.ts']),
        ],
      },
    },
  ],
  maxWorkers: 3, // they wait for deadlines and for each other's processes more than they work
  maxConcurrency: 12, // each has processes of its own
});
