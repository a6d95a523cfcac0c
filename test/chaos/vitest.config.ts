import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { leftOutReporter } from '../support/left-out.ts';

const root = join(import.meta.dirname, '../..');

export default defineConfig({
  root,
  test: {
    include: ['test/chaos/*.chaos.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/chaos/report.ts'],
    reporters: ['default', leftOutReporter()],
    fileParallelism: false,
    maxConcurrency: 50,
    retry: process.env.CI ? 1 : 0,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
