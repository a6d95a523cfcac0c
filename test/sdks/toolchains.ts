import { join } from 'node:path';
import { buildOnce } from './build-once.ts';
import { goSdk } from './go.ts';
import { type Host, type HostOptions, startHost } from './host.ts';
import { javaSdk } from './java.ts';
import { pythonSdk } from './python.ts';

/** The published SDKs a host application exists for. */
export const sdks = { python: pythonSdk, java: javaSdk, go: goSdk };
export type SdkName = keyof typeof sdks;
const names: readonly SdkName[] = ['python', 'java', 'go'];
/** Those that are tested: all, or the ones that SDKS names (`SDKS=python,go`). */
export const sdkNames = names.filter((name) => (process.env.SDKS ?? name).split(',').includes(name));

/** The rules every host runs; copy it to `{sharedDir}/7`. */
export const sampleApp = join(import.meta.dirname, 'app-7');

const defaultCacheDir = join(import.meta.dirname, '../../node_modules/.cache/sdks');

/**
 * `no-toolchain`: something is not installed here. `absent`: the registry that can be reached does not have the SDK.
 * `not-fetched`: it could not be fetched for another reason.
 */
export type PreparedSdk =
  | { kind: 'ready'; artifact: string; start(options: HostOptions): Promise<Host> }
  | { kind: 'no-toolchain' | 'absent' | 'not-fetched'; reason: string };

/** The SDK's host, installed and built, or why it cannot be. Throws when our host does not compile. */
export async function prepareSdk(name: SdkName, cacheDir = defaultCacheDir): Promise<PreparedSdk> {
  const sdk = sdks[name];
  const toolchain = await sdk.findToolchain();
  if (toolchain.kind === 'missing') return { kind: 'no-toolchain', reason: toolchain.reason };

  const build = await buildOnce(sdk, toolchain, cacheDir);
  if (build.kind !== 'built') return build;

  const command = sdk.launch(build.home);
  return { kind: 'ready', artifact: sdk.artifact, start: (options) => startHost(command, options) };
}
