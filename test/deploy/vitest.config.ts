import { suiteConfig } from '../support/suite-config.ts';

export default suiteConfig({
  include: ['test/deploy/*.test.ts'],
  maxWorkers: 2,
  isolate: false, // what they share are modules, which take seconds to load
});
