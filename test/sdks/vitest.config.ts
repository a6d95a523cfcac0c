import { failureReporter } from '../support/failures.ts';
import { suiteConfig } from '../support/suite-config.ts';
import { countReporter } from './count.ts';

export default suiteConfig({
  include: ['test/sdks/**/*.test.ts'],
  globalSetup: ['test/console/support/build-console.ts', 'test/sdks/setup.ts'],
  reporters: ['default', countReporter(), failureReporter()],
  maxWorkers: 1,
  hookTimeout: 120_000,
});
