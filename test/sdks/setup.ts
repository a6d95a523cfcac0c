import type { TestProject } from 'vitest/node';
import { findChromium } from '../support/browser.ts';
import { type PreparedSdk, prepareSdk, type SdkName, sdkNames } from './toolchains.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The SDKs whose host runs here: `describe.skipIf(!inject('sdks').includes(name))`. */
    sdks: SdkName[];
  }
}

/** Python's is the one SDK that every registry has. */
const REQUIRED: ReadonlySet<SdkName> = new Set(['python']);

/**
 * Installs the published SDKs, builds their hosts and looks for a browser. What cannot be had is left out and says so in a
 * line. In a continuous integration run only what the registry itself does not have may be left out.
 */
export async function setup(project: TestProject): Promise<void> {
  const strict = process.env.CI === 'true' || process.env.RULE_SERVER_REQUIRE_ALL_SUITES === '1';
  if (project.getProvidedContext().redis.kind === 'unavailable') {
    print('left out: all SDKs. They need a Redis: start Docker, or install redis-server, or set TEST_REDIS_URL.');
    project.provide('sdks', []);
    if (strict) throw new Error('there is no Redis, and this run must not leave the SDKs out');
    return;
  }
  const ready: SdkName[] = [];
  const missing: string[] = [];
  for (const name of sdkNames) {
    const sdk = await prepareSdk(name);
    print(`${name}: ${told(sdk)}`);
    if (sdk.kind === 'ready') ready.push(name);
    else if (sdk.kind !== 'absent' || REQUIRED.has(name)) missing.push(`${name} (${sdk.reason})`);
  }
  project.provide('sdks', ready);
  if ((await findChromium()) === undefined) {
    print('left out: the console. It needs a Chromium (Debian: apt install chromium).');
    missing.push('the console (there is no Chromium)');
  }
  if (strict && missing.length > 0) throw new Error(`this run must not leave out ${missing.join(', ')}`);
}

function told(sdk: PreparedSdk): string {
  if (sdk.kind === 'ready') return `${sdk.artifact} is installed`;
  return `left out: ${sdk.kind === 'absent' ? 'the published artifact cannot be had here. ' : ''}${sdk.reason}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
