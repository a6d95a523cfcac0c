import { suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/fuzz/*.fuzz.ts'],
  globalSetup: ['test/fuzz/report.ts'],
  maxWorkers: 2, // they wait for clients more than they work
  testTimeout: 900_000,
});
