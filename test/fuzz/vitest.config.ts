import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { leftOutReporter } from '../support/left-out.ts';

const root = join(import.meta.dirname, '../..');

export default defineConfig({
  root,
  test: {
    include: ['test/fuzz/*.fuzz.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/fuzz/report.ts'],
    reporters: ['default', leftOutReporter()],
    fileParallelism: false,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
});
