import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { createRuleClient } from '../../src/client/client.ts';
import { smallLeaves } from '../client/support/small-leaves.ts';
import { eventually } from './eventually.ts';

const POLL_MS = 500;
/** sshfs shows what it saw of a file for up to 20 s. */
const SEEN_WITHIN_MS = 30_000;

/** Asks a client again and again while a new version is released; the number of the version becomes longer. */
export async function followRules({ client: sharedDir, server }: { client: string; server: string }): Promise<void> {
  await release(server, { version: 9, confName: 'Yes' });
  const errors: unknown[] = [];
  const client = await createRuleClient({
    ...{ app: 7, sharedDir, leaves: smallLeaves, pollMs: POLL_MS },
    onError: (error) => errors.push(error),
  });
  try {
    const outcomes: string[] = [];
    const ask = async () => {
      const outcome = await send(join(server, 'mock/7', client.address), `request-${outcomes.length}`);
      outcomes.push(outcome);
      return outcome;
    };
    expect([await ask(), client.loadedVersion()]).toEqual(['TRUE', 9n]);
    await release(server, { version: 10, confName: 'No' });
    await eventually(async () => expect(await ask()).toBe('FALSE'), SEEN_WITHIN_MS);
    for (let more = 0; more < 10; more++) await ask();
    expect([client.loadedVersion(), errors, outcomes.filter((outcome) => !/^(TRUE|FALSE)$/.test(outcome))]).toEqual([
      10n,
      [],
      [],
    ]);
  } finally {
    await client.close();
  }
}

/** As the rules' editors do: the whole files, the update, and last the version. */
export async function release(
  server: string,
  { version, confName }: { version: number; confName: string },
): Promise<void> {
  const node = { id: 1, app: 7, type: 5, status: 1, confName };
  await put(join(server, '7/confs/1.json'), JSON.stringify(node));
  await put(join(server, '7/bases/1.json'), JSON.stringify({ id: 1, app: 7, status: 1, confId: 1 }));
  await put(join(server, `7/versions/${version}_upd.json`), JSON.stringify({ version, insertOrUpdateConfs: [node] }));
  await put(join(server, '7/version.txt'), String(version));
}

/** Puts a request, and resolves to what its answer says. */
async function send(directory: string, mockId: string): Promise<string> {
  await put(join(directory, `${mockId}.json`), JSON.stringify({ mockId, app: 7, ruleId: 1, 'the service': {} }));
  const path = join(directory, `${mockId}_result.json`);
  const text = await eventually(() => readFile(path, 'utf8'), 20_000);
  await rm(path, { force: true });
  const { outcome, error } = JSON.parse(text);
  return outcome ?? String(error);
}

async function put(path: string, text: string): Promise<void> {
  const aside = join(dirname(path), `.${Math.random().toString(36).slice(2)}.tmp`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(aside, text);
  await rename(aside, path);
}
