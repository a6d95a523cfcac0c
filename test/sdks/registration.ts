import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Registration {
  /** Path of the `m_` file. */
  registration: string;
  address: string;
}

/** The names of the registrations in a clients folder, which need not exist yet. */
export async function registrations(clients: string): Promise<Set<string>> {
  const names = await readdir(clients).catch(() => []);
  return new Set(names.filter((name) => name.startsWith('m_') && name.endsWith('.json')));
}

/** Waits for a registration that is not among the known ones; rejects only when aborted. */
export async function newRegistration(clients: string, known: Set<string>, signal: AbortSignal): Promise<Registration> {
  for (;;) {
    for (const name of await registrations(clients)) {
      if (!known.has(name)) return read(join(clients, name));
    }
    await sleep(50, undefined, { signal });
  }
}

async function read(registration: string): Promise<Registration> {
  const content: unknown = JSON.parse(await readFile(registration, 'utf8'));
  if (typeof content === 'object' && content !== null && 'address' in content && typeof content.address === 'string') {
    return { registration, address: content.address };
  }
  throw new Error(`${registration} has no address`);
}
