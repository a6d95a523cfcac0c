import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { formatTarget, type Target } from '../../shared/contract/target.ts';
import type { Warning } from '../../shared/contract/warning.ts';
import { perProcess } from '../../shared/ports/process.ts';
import type { Why } from '../../shared/reasons/causes.ts';
import { asWhy } from '../../shared/reasons/template.ts';
import { type Client, directoryOnly } from '../clients/client.ts';
import type { Clients, Roster } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import { canRead, largeNumberIn } from '../files/dialects/dialects.ts';
import { isPlainName } from '../files/file-names.ts';
import type { ClientLoad } from './client-load.ts';
import type { UnwritableClients } from './unwritable-clients.ts';

/**
 * The client an execution goes to, or why there is none. `isNewAddress`: no client has this address yet; its directory is made.
 * `warnings`: the clients that were passed over.
 */
type Resolution =
  | { kind: 'client'; client: Client; isNewAddress: boolean; warnings: Warning[] }
  | { kind: 'refused'; noAnswer: NoAnswer };

/** About one execution, for which the client then counts as chosen (`mockId`). `tried`: names of directories it could not be written to. `suits`: whether a client can read and run it. */
type Wishes = { mockId?: string; tried: ReadonlySet<string>; suits: (client: Client) => boolean };

const anyClient: Wishes = { tried: new Set(), suits: () => true };

/** Which clients can read an input, and can run it without effects if that is asked for. */
export function suitsOf(input: string, isDry: boolean): Wishes['suits'] {
  const large = largeNumberIn(input);
  return ({ sdk, dryRun }) => canRead(sdk, large) && (dryRun || !isDry);
}

/** `sure`: no newer listing could give a better client. */
type Choice = Resolution & { sure: boolean };
type ResolveTargetDependencies = {
  clients: Clients;
  load: ClientLoad;
  pickUps: Pick<PickUps, 'letsLie'>;
  unwritable: UnwritableClients;
};

export type ResolveTarget = ReturnType<typeof createResolveTarget>;

/** Chooses one client for a target: online or busy, with the fewest open executions; of equals any. One that lets requests lie comes last. */
export function createResolveTarget({ clients, load, pickUps, unwritable }: ResolveTargetDependencies) {
  return async function resolveTarget(app: number, target: Target, wishes: Wishes = anyClient): Promise<Resolution> {
    const choice = await choose(app, target, await clients.roster(app), wishes);
    if (choice.sure && choice.kind === 'client' && (await clients.isStillThere(choice.client))) return choice;
    // Only a fresh look refuses: the client may have come, or a better one, or the chosen one may have left a moment ago.
    return choose(app, target, await clients.roster(app, { fresh: true }), wishes);
  };

  async function choose(app: number, target: Target, roster: Roster, wishes: Wishes): Promise<Choice> {
    if (target.kind === 'address') return byAddress(app, target.address, roster, wishes);
    for (const isGood of inOrderOfPreference(wishes)) {
      const seen: (() => Client[])[] = [];
      for (const group of groupsFor(target, roster)) {
        const isAvailable = await availableIn(group);
        seen.push(() => group.filter(isAvailable));
        const least = await load.leastBusy(group, (client) => isAvailable(client) && isGood(client), wishes.mockId);
        if (!least) continue;
        const passedOver = () => seen.flatMap((clients) => clients()).filter((client) => client !== least);
        const warnings = unwritable.warningsAbout(passedOver, wishes.tried);
        const sure = least.registered && wishes.suits(least);
        return { kind: 'client', client: least, isNewAddress: false, warnings, sure };
      }
    }
    const wanted = target.kind === 'all' ? undefined : formatTarget(target);
    // Where a directory cannot be read, somebody may be there.
    const isEmpty = roster.clients.length === 0 && !(await clients.areThereAny().catch(() => true));
    return refuse(
      isEmpty ? noAnswer('no-clients', { app }) : noAnswer('no-client-online', { app, wanted, ...whoIsOnline(roster) }),
    );
  }

  /** A client that cannot read or run it is the last choice: the refusal then says why. */
  function inOrderOfPreference({ tried, suits }: Wishes): ((client: Client) => boolean)[] {
    const isLeft = (client: Client) => !tried.has(client.directoryName);
    const isSuited = (client: Client) => isLeft(client) && suits(client);
    const takes = (client: Client) => isSuited(client) && !pickUps.letsLie(client);
    // A try at one that cannot be written costs nothing, a try at one that lets requests lie costs the call.
    return [(client) => takes(client) && !unwritable.has(client), takes, isSuited, isLeft];
  }

  async function byAddress(app: number, address: string, roster: Roster, { mockId }: Wishes): Promise<Choice> {
    const named = roster.clients.filter((client) => client.address === address || client.directoryName === address);
    const least = await load.leastBusy(named, await availableIn(named), mockId);
    if (least) return { kind: 'client', client: least, isNewAddress: false, warnings: [], sure: true };
    if (named.length > 0) return refuse(noAnswer('client-offline', { wanted: address, ...whoIsOnline(roster) }));
    if (!isPlainName(address)) return refuse(notPlain(app, address));
    if (roster.clients.length > groupsOf(roster).directories.length || roster.skipped.length > 0) {
      return refuse(noAnswer('unknown-client', { app, wanted: address, ...whoIsOnline(roster) }));
    }
    const client = directoryOnly(app, address);
    return { kind: 'client', client, isNewAddress: true, warnings: [], sure: false };
  }

  /** Who of them can be asked: who is online; where nobody is, those whose heartbeat stands still because they run a rule right now. */
  async function availableIn(clients: Client[]): Promise<(client: Client) => boolean> {
    if (clients.some(({ online }) => online)) return ({ online }) => online;
    const running = await load.runningAmong(clients);
    return (client) => running.includes(client);
  }
}

/** The clients that a target allows, in groups: those of the first one are asked first. */
function groupsFor(target: Exclude<Target, { kind: 'address' }>, roster: Roster): Client[][] {
  const { trunk, lanes, directories } = groupsOf(roster);
  switch (target.kind) {
    case 'all':
      return [trunk, [...lanes.values()].flat(), directories];
    case 'lane':
      return [lanes.get(target.lane) ?? []];
  }
}

type Groups = { trunk: Client[]; lanes: Map<string, Client[]>; directories: Client[] };
const known = perProcess(() => new WeakMap<Roster, Groups>());

/** The clients of a listing by where they are; worked out once per listing. */
function groupsOf(roster: Roster): Groups {
  const groups = known().get(roster) ?? group(roster.clients);
  known().set(roster, groups);
  return groups;
}

const group = (clients: Client[]): Groups => ({
  trunk: clients.filter(({ registered, lane }) => registered && lane === null),
  lanes: Map.groupBy(
    clients.filter(({ lane }) => lane !== null),
    ({ lane }) => lane ?? '',
  ),
  directories: clients.filter(({ registered }) => !registered),
});

function refuse(noAnswer: NoAnswer): Choice {
  return { kind: 'refused', noAnswer, sure: false };
}

function notPlain(app: number, address: string): NoAnswer {
  return noAnswer('target-not-plain', { field: 'target', wanted: address, app });
}

const NAMED_AT_MOST = 10;

/** `unread`: a registration that was passed over, if there is one. */
function whoIsOnline({ clients, skipped }: Roster): { online?: string; unread?: string; why?: Why } {
  const online = clients.filter((client) => client.online && (client.registered || isPlainName(client.address)));
  const names = online.map(({ address, lane }) => (lane === null ? address : `${address} (lane ${lane})`));
  const [unread] = skipped;
  const named = names.length > NAMED_AT_MOST ? [...names.slice(0, NAMED_AT_MOST), '…'] : names;
  return {
    ...(named.length > 0 && { online: named.join(', ') }),
    ...(unread && { ...asWhy(unread.fault), unread: unread.file }),
  };
}
