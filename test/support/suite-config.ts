import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { failureReporter } from './failures.ts';
import { leftOutReporter } from './left-out.ts';

// Tests run the service within their own process, too, which asks for as many threads (bin/rule-server.js).
process.env.UV_THREADPOOL_SIZE ??= '64';

type Suite = NonNullable<ViteUserConfig['test']>;

/** What every suite has in common: where the repository is, how a run gets its Redis, and what it says at its end. */
export function suiteConfig({ globalSetup = [], ...suite }: Suite & { globalSetup?: string[] }): ViteUserConfig {
  return defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: {
      globalSetup: ['test/support/global-setup.ts', ...globalSetup],
      reporters: ['default', leftOutReporter(), failureReporter()],
      maxConcurrency: 50, // most concurrent tests wait for a deadline
      // Ends what hangs. What is only slow, because the machine is busy, is waited for.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 60_000 } },
      ...suite,
    },
  });
}
