import { join } from 'node:path';
import { run } from '../../sdks/run.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Builds the page once for a whole suite, unless what was built last is of these sources. */
export async function setup(): Promise<void> {
  await run(process.execPath, [join(ROOT, 'bin/build-console.js'), '--when-needed'], { cwd: ROOT, timeoutMs: 600_000 });
}
