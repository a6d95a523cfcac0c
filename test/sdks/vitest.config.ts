import { defineConfig } from 'vitest/config';
import { countReporter } from './count.ts';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/sdks/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/sdks/setup.ts'],
    reporters: ['default', countReporter()],
    maxWorkers: 1,
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
