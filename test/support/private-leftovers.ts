import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../src/shared/runtime/errno.ts';

/** What is in the folder of the claims, which only workers use. Once everything is old there are only empty marks. */
export async function privateLeftovers(sharedDir: string): Promise<string[]> {
  const claims = join(sharedDir, '.rule-server/claims');
  const names = (await readdir(claims, { recursive: true }).catch(unless('ENOENT'))) ?? [];
  return names.filter((name) => !/^\d+\.swept$/.test(name));
}
