import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { registrationText } from './registrations.ts';

type Options = {
  sharedDir: string;
  app: number;
  sdk: 'go' | 'java' | 'python';
  address: string;
  lane?: string;
  /** How long ago it beat; null: never. */
  beatAgoMs?: number | null;
};

/** Registers a client as one of the published SDKs did, with everything it publishes. Nobody answers there. */
export async function registerPublished({ sharedDir, app, sdk, address, lane, beatAgoMs = 0 }: Options): Promise<void> {
  const home = join(sharedDir, 'clients', String(app), ...(lane === undefined ? [] : ['lane', lane]));
  const name = address.replace(/[:/]/g, '_');
  const text = await registrationText(sdk);
  const captured: { address: string; app: number } = JSON.parse(text);
  const registration = text
    .replace(JSON.stringify(captured.address), JSON.stringify(address))
    .replace(/("app":\s*)\d+/, `$1${app}`);
  await mkdir(home, { recursive: true });
  await put(join(home, `m_${name}.json`), registration);
  if (beatAgoMs === null) return;
  await put(join(home, `b_${name}.json`), `{"lastHeartbeat":${Date.now() - beatAgoMs},"loadedVersion":3}`);
}

async function put(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text);
  await rename(`${path}.tmp`, path);
}
