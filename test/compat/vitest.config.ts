import { suiteConfig } from '../support/suite-config.ts';

/** The client beside what its users build and check with: bundlers, transpilers, versions of TypeScript, schema libraries. */
export default suiteConfig({ include: ['test/compat/*.test.ts'], maxWorkers: 2 });
