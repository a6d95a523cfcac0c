import { mkdir, rm } from 'node:fs/promises';
import type { Places } from './places.ts';
import { placeFile, replaceFile } from './replace-file.ts';
import { refuseTakenAddress, thisProcess } from './taken-address.ts';

/** A client's description of itself at its start. */
type Registration = {
  app: number;
  address: string;
  lane: string | undefined;
  loadedVersion: bigint;
  leafNodes: readonly unknown[];
};

/** Its `dialect` tells the server to speak to this client in the server's own words. */
function printRegistration({ app, address, lane, loadedVersion, leafNodes }: Registration): string {
  const now = Date.now();
  const members = {
    address,
    app,
    lane: lane ?? null,
    dialect: 'rule',
    sdk: 'node',
    dryRun: true,
    lastHeartbeat: now,
    startTime: now,
    process: thisProcess(),
  };
  const rest = `"loadedVersion":${loadedVersion},"leafNodes":${JSON.stringify(leafNodes)}`;
  return `${JSON.stringify(members).slice(0, -1)},${rest}}`;
}

/** A heartbeat as it is written: now by this machine's clock. */
export function printHeartbeat(loadedVersion: bigint): string {
  return `{"lastHeartbeat":${Date.now()},"loadedVersion":${loadedVersion}}`;
}

/** Makes the client known and gives back its registration as it stands there. Rejects when a living client has its address. */
export async function register(places: Places, registration: Registration): Promise<string> {
  await refuseTakenAddress(places, registration.address);
  // First the directory for requests: once a client is known, somebody may put one there.
  await mkdir(places.mock, { recursive: true });
  await mkdir(places.home, { recursive: true });
  const text = printRegistration(registration);
  if (!(await placeFile(places.registration, text))) {
    // Somebody was quicker, or a client that died left it behind.
    await refuseTakenAddress(places, registration.address);
    await replaceFile(places.registration, text);
  }
  await replaceFile(places.heartbeat, printHeartbeat(registration.loadedVersion));
  if (registration.leafNodes.length > 0) await replaceFile(places.latest, text);
  return text;
}

/** Takes the client back, in the order that tells a server it left: requests, registration, heartbeat. */
export async function unregister(places: Places): Promise<void> {
  // A worker may be putting something into it.
  await rm(places.mock, { recursive: true, force: true, maxRetries: 5 });
  await rm(places.registration, { force: true });
  await rm(places.heartbeat, { force: true });
}
