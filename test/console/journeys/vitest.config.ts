import { suiteConfig } from '../../support/suite-config.ts';

/** What a person does with the page, once each: these run at each change. With JOURNEYS=all every journey, every look and every state. */
const CORE = [
  'first-run',
  'endings',
  'targets',
  'cases',
  'many-inputs',
  'history',
  'kept-runs',
  'keyboard',
  'sign-in',
  'trust',
];
const names = process.env.JOURNEYS === 'all' ? ['*'] : CORE;

export default suiteConfig({
  include: names.map((name) => `test/console/journeys/${name}.test.ts`),
  globalSetup: ['test/console/support/build-console.ts'],
  maxWorkers: 3, // the pages wait for answers, and for the time that a person would take
});
