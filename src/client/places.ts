import { join } from 'node:path';
import { hasUnseen } from '../shared/contract/json/visible-text.ts';

/** The folders and files of one client in the shared directory. */
export type Places = ReturnType<typeof placesOf>;

type Identity = { sharedDir: string; app: number; address: string; lane: string | undefined };

/** The places of a client. Throws a `TypeError` for an app, address or lane that nobody could address it by. */
export function placesOf({ sharedDir, app, address, lane }: Identity) {
  if (!Number.isSafeInteger(app) || app < 1) throw new TypeError(`app must be a positive integer, not ${app}`);
  checkName('address', address);
  if (lane !== undefined) checkName('lane', lane);
  const clients = join(sharedDir, 'clients', String(app));
  const home = lane === undefined ? clients : join(clients, 'lane', lane);
  return {
    /** The app's rules and nodes. */
    rules: join(sharedDir, String(app)),
    /** The folder of requests and results. */
    mock: join(sharedDir, 'mock', String(app), address),
    /** The folder in which clients of this app register; those in lanes register below it, in `home`. */
    app: clients,
    home,
    registration: join(home, `m_${address}.json`),
    heartbeat: join(home, `b_${address}.json`),
    /** The last registration with leaves, whoever's it is. */
    latest: join(home, '_latest.json'),
  };
}

export const resultPathOf = ({ mock }: Places, mockId: string): string => join(mock, `${mockId}_result.json`);

/** A name becomes a directory: one plain segment, visible, and short enough to leave room for what is put before it. */
function checkName(what: string, name: string): void {
  const plain = /^[^./\\][^/\\]*$/.test(name) && !name.includes('..') && !hasUnseen(name);
  if (plain && Buffer.byteLength(name) <= 200) return;
  throw new TypeError(
    `${what} must be 1 to 200 bytes without / \\ .. or control characters and not begin with a dot: ${JSON.stringify(name)}`,
  );
}
