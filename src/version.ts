import { readFileSync } from 'node:fs';

const { version: written, peerDependencies = {} }: { version?: unknown; peerDependencies?: object } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** The version of this build. */
export const version = String(written);

/** The packages that send traces: installed beside this one by who wants them. */
export const tracingPackages: readonly string[] = Object.keys(peerDependencies);
