import { suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/deploy/*.test.ts'],
  maxWorkers: 2,
});
