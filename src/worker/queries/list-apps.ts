import { join } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { idMember, nameMember, parseObject } from '../../shared/rules/members.ts';
import { absent } from '../../shared/rules/reading.ts';
import type { Clients } from '../clients/clients.ts';
import { readBoundedFile } from '../files/file-system.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { isRealFolder } from '../rules/folder-listing.ts';
import type { Rules } from '../rules/rules.ts';

const MAX_APP_BYTES = 64 * 1024;

/** Lists the apps that have rules, clients or a directory of a client, in ascending order, with the names they have. */
export function createListApps({
  sharedDir,
  rules,
  clients,
}: {
  sharedDir: string;
  rules: Rules;
  clients: Pick<Clients, 'apps'>;
}) {
  return async function listApps() {
    const apps = new Set([...(await rules.listApps()), ...(await clients.apps())]);
    return mapInBulk(
      [...apps].sort((a, b) => a - b),
      named,
    );
  };

  /** The name of an app stands beside its rules, in `apps/{app}.json`. */
  async function named(app: number): Promise<{ app: number; name: string | null }> {
    const folder = join(sharedDir, 'apps');
    const text = (await isRealFolder(folder))
      ? await readBoundedFile(join(folder, `${app}.json`), MAX_APP_BYTES)
      : absent;
    const name = text.kind === 'found' ? parseObject(text.value, (object) => nameOf(object, app)) : text;
    return { app, name: name.kind === 'found' ? name.value : null };
  }
}

/** The file of another app, which was copied, does not name this one. */
function nameOf(object: ExactObject, app: number): string | null {
  const id = idMember(object, 'id');
  return id === null || id === BigInt(app) ? nameMember(object) : null;
}
