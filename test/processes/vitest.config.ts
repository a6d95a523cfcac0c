import { moreTries, suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/processes/*.test.ts'],
  maxWorkers: 2,
  retry: moreTries,
});
