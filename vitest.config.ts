import { configDefaults } from 'vitest/config';
import { suiteConfig } from './test/support/suite-config.ts';
import { WaitingBesideWorking } from './test/support/waiting-beside-working.ts';

// npm test: what a person runs at every change. What needs a browser, many processes, minutes or a real fault has a
// suite of its own in one of these folders.
const otherSuites = [
  'test/console/journeys/**',
  'test/processes/**',
  'test/deploy/**',
  'test/sdks/**',
  'test/packages/**',
  'test/compat/**',
];

export default suiteConfig({
  include: ['test/**/*.test.ts'],
  exclude: [...configDefaults.exclude, ...otherSuites],
  maxWorkers: 6, // most of their time they wait for a file, a deadline or a Redis
  isolate: false,
  sequence: { sequencer: WaitingBesideWorking },
});
