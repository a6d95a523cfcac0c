import { readFile } from 'node:fs/promises';
import { errnoOf } from './errno.ts';
import { BadSettings } from './settings.ts';

/** A redis:// URL with the password that a file holds; without a file as it is. Throws `BadSettings` when it cannot be read. */
export async function withPasswordFrom<Url extends string | undefined>(
  path: string | undefined,
  url: Url,
): Promise<string | Url> {
  if (path === undefined || url === undefined) return url;
  const password = await readFile(path, 'utf8').catch((error) => {
    throw new BadSettings(`REDIS_PASSWORD_FILE cannot be read: ${errnoOf(error)} at ${path}.`, { cause: error });
  });
  const full = new URL(url);
  full.password = encodeURIComponent(password.trim());
  return full.href;
}
