import { moreTries, suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/chaos/*.chaos.ts'],
  globalSetup: ['test/chaos/report.ts'],
  fileParallelism: false,
  retry: moreTries,
  testTimeout: 600_000,
});
