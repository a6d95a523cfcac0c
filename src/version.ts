import { readFileSync } from 'node:fs';

const { version: written }: { version?: unknown } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** The version of this build. */
export const version = String(written);
