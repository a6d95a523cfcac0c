import { suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/chaos/*.chaos.ts'],
  exclude: process.env.SOAK ? [] : ['test/chaos/soak.chaos.ts'], // 20 minutes: only when asked for
  globalSetup: ['test/chaos/report.ts'],
  fileParallelism: false,
  testTimeout: 600_000,
});
