import { suiteConfig } from '../../support/suite-config.ts';

export default suiteConfig({
  include: ['test/console/journeys/*.test.ts'],
  maxWorkers: 3, // the pages wait for answers, and for the time that a person would take
});
