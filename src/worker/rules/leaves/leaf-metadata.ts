import type { RuleNode } from '../../../shared/rules/node-file.ts';
import type { LeafNode } from './leaf-nodes.ts';

/** The metadata that a client published. `lane` null: the trunk. `lastHeartbeat`: epoch ms by the client's clock. */
export type Registration = {
  address: string;
  lane: string | null;
  online: boolean;
  lastHeartbeat: number;
  leafNodes: readonly LeafNode[];
};

/** The client or lane whose metadata a caller prefers; null: any. */
export type Wanted = { lane: string | null; address: string | null };

/** The registrations of an app, online or not, the last known one included. */
export type MetadataFor = (app: number) => Promise<readonly Registration[]>;

/**
 * Finds what is known about leaf classes: from the wanted address if it is online, else the wanted lane, the trunk, any
 * online client; with nobody online, from the last known registrations in the same order. `fellBack` says whether a wanted client that is not online was replaced by another.
 */
export function createLeafMetadata(registrations: readonly Registration[], wanted: Wanted) {
  const isWanted = wantedBy(wanted);
  const wantedOnline = registrations.some((registration) => registration.online && isWanted(registration));
  const stages = stagesOf(registrations, wanted);
  const known = new Map<string, { leaf: LeafNode; from: Registration } | null>();
  let fellBack = false;

  function search(clazz: string, type: number | null) {
    for (const stage of stages) {
      let silent: { leaf: LeafNode; from: Registration } | undefined;
      for (const from of stage) {
        const leaf = from.leafNodes.find((node) => node.clazz === clazz && (node.type ?? type) === type);
        // Within a stage, clients of some languages publish which keys a leaf accesses and others do not: take one that does.
        if (leaf && (leaf.keys.length > 0 || leaf.incomplete)) return { leaf, from };
        if (leaf) silent ??= { leaf, from };
      }
      if (silent) return silent;
    }
    return null;
  }

  return {
    /** The metadata of a node's leaf class; null for a relation. Clients do not publish aliases, so those have no metadata. */
    leafOf({ type: { number, leaf }, confName: clazz }: RuleNode): LeafNode | null {
      if (!leaf || clazz === '') return null;
      const type = Number(number);
      const key = `${type} ${clazz}`;
      const remembered = known.get(key);
      const found = remembered === undefined ? search(clazz, type) : remembered;
      known.set(key, found);
      if (found && !wantedOnline && !isWanted(found.from)) fellBack = true;
      return found?.leaf ?? null;
    },
    fellBack: () => fellBack,
    /**
     * The classes of some nodes that an online client which is wanted says it does not have, each once. Null where none of these clients
     * publishes its classes.
     */
    classesMissing(nodes: Iterable<RuleNode>): string[] | null {
      const having = registrations
        .filter((registration) => registration.online && isWanted(registration) && registration.leafNodes.length > 0)
        .map(({ leafNodes }) => new Set(leafNodes.map(({ clazz }) => clazz)));
      if (having.length === 0) return null;
      const classes = new Set(
        [...nodes].flatMap(({ type, confName }) => (type.leaf && confName !== '' ? confName : [])),
      );
      return [...classes].filter((clazz) => having.some((known) => !known.has(clazz)));
    },
  };
}

function wantedBy({ lane, address }: Wanted): (registration: Registration) => boolean {
  if (address !== null) return (registration) => sameAddress(registration.address, address);
  return (registration) => lane === null || registration.lane === lane;
}

function stagesOf(registrations: readonly Registration[], { lane, address }: Wanted): Registration[][] {
  const newestFirst = registrations.toSorted(
    (a, b) => b.lastHeartbeat - a.lastHeartbeat || (a.address < b.address ? -1 : 1),
  );
  const online = newestFirst.filter((registration) => registration.online);
  const offline = newestFirst.filter((registration) => !registration.online);
  const isAddress = (registration: Registration) => address !== null && sameAddress(registration.address, address);
  const isLane = (registration: Registration) => lane !== null && registration.lane === lane;
  const isTrunk = (registration: Registration) => registration.lane === null;
  const preferred = [isAddress, isLane, isTrunk];
  const rank = (registration: Registration) => preferred.map((is) => Number(!is(registration))).join('');
  const last = offline.toSorted((a, b) => rank(a).localeCompare(rank(b)));
  const single = last.map((registration) => [registration]);
  return [online.filter(isAddress), online.filter(isLane), online.filter(isTrunk), online, ...single];
}

/** Clients are listed under a file name in which `:` and `/` became `_`: either form names the same client. */
function sameAddress(one: string, other: string): boolean {
  return one.replace(/[:/]/g, '_') === other.replace(/[:/]/g, '_');
}
