import { join } from 'node:path';
import { type ExactObject, integerOf, RawNumber } from '../../shared/contract/json/raw-number.ts';
import { time } from '../../shared/ports/time.ts';
import { listMember, memberOf, parseObject, textMember } from '../../shared/rules/members.ts';
import { readBoundedFile } from '../files/file-system.ts';
import { readEntries } from '../files/ports/files.ts';
import type { Entry } from '../files/ports/operations.ts';
import { createPathCache } from '../files/reading/path-cache.ts';
import { isRealFolder } from '../rules/folder-listing.ts';
import type { Registration } from '../rules/leaves/leaf-metadata.ts';
import { type LeafNode, parseLeafNodes } from '../rules/leaves/leaf-nodes.ts';

const MAX_REGISTRATION_BYTES = 8 * 1024 * 1024;
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
const MAX_LANES = 1000;

/** A client as the registry lists it; its leaf nodes as published. */
type Listed = Omit<Registration, 'leafNodes'> & { leafNodes: readonly unknown[] };
type PublishedMetadataDependencies = { sharedDir: string; listClients: (app: number) => Promise<readonly Listed[]> };

/**
 * The metadata that clients published about their leaf classes: those the registry lists, and for an app whose clients are all gone
 * the copy of the last registration that stays behind on the trunk and in each lane.
 */
export function createPublishedMetadata({ sharedDir, listClients }: PublishedMetadataDependencies) {
  const parsed = new WeakMap<readonly unknown[], readonly LeafNode[]>();
  const lastFiles = createPathCache({
    now: () => time.monotonic(),
    maxBytes: MAX_CACHED_BYTES,
    load: async (path) => {
      const text = await readBoundedFile(path, MAX_REGISTRATION_BYTES);
      return text.kind === 'found' ? parseObject(text.value, readLast) : text;
    },
  });

  function leavesOf(published: readonly unknown[]): readonly LeafNode[] {
    const leaves = parsed.get(published) ?? parseLeafNodes(published);
    parsed.set(published, leaves);
    return leaves;
  }

  async function lastRegistrations(folder: string): Promise<Listed[]> {
    const [real, hasLanes] = await Promise.all([isRealFolder(folder), isRealFolder(join(folder, 'lane'))]);
    if (!real) return [];
    const entries = hasLanes ? await entriesOf(join(folder, 'lane')) : [];
    const lanes = entries.filter((entry) => entry.isDirectory()).slice(0, MAX_LANES);
    const ofLanes = lanes.map(({ name }) => lastRegistration(join(folder, 'lane', name), name));
    return (await Promise.all([lastRegistration(folder, null), ...ofLanes])).flat();
  }

  async function lastRegistration(folder: string, lane: string | null): Promise<Listed[]> {
    const reading = await lastFiles.read(join(folder, '_latest.json'));
    return reading.kind === 'found' ? [{ ...reading.value, lane, online: false }] : [];
  }

  return {
    /** All registrations of an app. Leaf nodes are parsed on demand: of a thousand clients a question needs a few. */
    async metadataFor(app: number): Promise<readonly Registration[]> {
      const folder = join(sharedDir, 'clients', String(app));
      const [listed, last] = await Promise.all([listClients(app), lastRegistrations(folder)]);
      const known = new Set(listed.map(({ address }) => address));
      const gone = last.filter(({ address }) => !known.has(address));
      return [...listed, ...gone].map(({ address, lane, online, lastHeartbeat, leafNodes }) => ({
        ...{ address, lane, online, lastHeartbeat },
        get leafNodes() {
          return leavesOf(leafNodes);
        },
      }));
    },

    /** The leaf classes a client published; null when it published none, so that what it can run is unknown. */
    leafClassesOf(published: readonly unknown[]): ReadonlySet<string> | null {
      const leaves = leavesOf(published);
      return leaves.length === 0 ? null : new Set(leaves.map(({ clazz }) => clazz));
    },
  };
}

function entriesOf(path: string): Promise<Entry[]> {
  return readEntries(path).catch(() => []);
}

function readLast(object: ExactObject) {
  const address = textMember(object, 'address');
  if (address === '') throw new TypeError('address is missing');
  const at = memberOf(object, 'lastHeartbeat');
  const lastHeartbeat = at instanceof RawNumber ? Number(integerOf(at.text) ?? 0n) : 0;
  return { address, lastHeartbeat, leafNodes: listMember(object, 'leafNodes') };
}
