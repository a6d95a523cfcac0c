import { moreTries, suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/fuzz/*.fuzz.ts'],
  globalSetup: ['test/fuzz/report.ts'],
  fileParallelism: false,
  testTimeout: 900_000,
  retry: moreTries,
});
