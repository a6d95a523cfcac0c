import { oneMoreTry, suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/chaos/*.chaos.ts'],
  globalSetup: ['test/chaos/report.ts'],
  fileParallelism: false,
  retry: oneMoreTry,
  testTimeout: 600_000,
});
