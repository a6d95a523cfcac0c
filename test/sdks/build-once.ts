import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundToolchain, Sdk } from './sdk.ts';

/** `absent`: the registry answered that it does not have the artifact. `not-fetched`: anything else kept it from coming. */
export type Build =
  | { kind: 'built'; home: string }
  | { kind: 'absent'; reason: string }
  | { kind: 'not-fetched'; reason: string };

/**
 * The folder under `cacheDir` that holds this SDK's host, made on first use. Safe to call from several processes: each
 * builds aside and the first to finish is kept. A host that does not compile throws; an artifact that cannot be fetched
 * is an answer, because the network or the registry may be at fault.
 */
export async function buildOnce(sdk: Sdk, toolchain: FoundToolchain, cacheDir: string): Promise<Build> {
  const home = join(cacheDir, `${sdk.name}-${await fingerprint(sdk, toolchain)}`);
  if (await exists(home)) return { kind: 'built', home };

  const aside = `${home}.${randomUUID()}`;
  await mkdir(aside, { recursive: true });
  try {
    const refusal = await sdk.fetch(aside, toolchain).then(() => undefined, messageOf);
    if (refusal !== undefined) {
      const reason = `${sdk.artifact} could not be fetched: ${refusal}`;
      return { kind: sdk.saysAbsent.test(refusal) ? 'absent' : 'not-fetched', reason };
    }
    await sdk.build(aside, toolchain);
    await rename(aside, home).catch((error: unknown) => keepTheFirst(home, error));
    return { kind: 'built', home };
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function fingerprint(sdk: Sdk, toolchain: FoundToolchain): Promise<string> {
  const hash = createHash('sha256').update(`${sdk.artifact} ${toolchain.version}`);
  const entries = await readdir(sdk.sources, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(file).update(await readFile(file));
  return hash.digest('hex').slice(0, 12);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function keepTheFirst(home: string, error: unknown): Promise<void> {
  if (!(await exists(home))) throw error;
}
