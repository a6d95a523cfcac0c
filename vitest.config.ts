import { configDefaults, defineConfig } from 'vitest/config';
import { leftOutReporter } from './test/support/left-out.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/sdks/**'], // npm run test:sdks
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', leftOutReporter()],
    maxWorkers: 2,
    maxConcurrency: 50, // most concurrent tests wait for a deadline
    // On a small shared machine a whole second can pass unnoticed; what fails twice more is no such moment.
    retry: process.env.CI ? 2 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
