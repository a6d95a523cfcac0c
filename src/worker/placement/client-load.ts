import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import type { Client } from '../clients/client.ts';
import { directoryAt } from '../files/client-directory.ts';
import {
  directoryOfClient,
  openExecutionOf,
  openFileName,
  requestFileName,
  withdrawnFileName,
} from '../files/file-names.ts';
import { ENDED_KEPT_MS } from '../files/watch.ts';
import type { ClientSlots } from './client-slots.ts';

/** A reading of a client's directory is good for this long. */
const FRESH_MS = 200;
const MAX_REMEMBERED = 2000;
/** Of many equals this many are looked at: enough to spread load, whatever the number of clients. */
const COMPARED_AT_MOST = 8;
const READ_AT_MOST = 20;

/** `others`: those that are not this worker's. */
type Placed = Pick<Client, 'app' | 'directoryName'>;
type Marks = { open: number; others: number; running: boolean };
type ClientLoadDependencies = {
  sharedDir: string;
  slots: ClientSlots;
  resultTimeoutMs: number;
  /** The time by the file system's clock, epoch ms. */
  fileNow: () => number;
  /** Whether an execution is, or was until a moment ago, this worker's. */
  isOwn: (directory: string, mockId: string) => boolean;
};

export type ClientLoad = ReturnType<typeof createClientLoad>;

/** How much clients have to do, by the marks that executions leave in their directories while they are open. */
export function createClientLoad({ sharedDir, slots, resultTimeoutMs, fileNow, isOwn }: ClientLoadDependencies) {
  const readings = new Map<string, { at: number; marks: Promise<Marks> }>();
  const pathOf = createPaths(sharedDir);

  const rankOf = (client: Client): Ranked => ({ client, path: pathOf(client), open: slots.load(pathOf(client)) });

  /** The marks of all workers, as of a moment ago. */
  function marksOf(path: string): Promise<Marks> {
    const known = readings.get(path);
    if (known && time.monotonic() - known.at < FRESH_MS) return known.marks;
    if (readings.size >= MAX_REMEMBERED) readings.clear();
    const marks = readMarks(path, { fileNow: fileNow(), openForMs: resultTimeoutMs + ENDED_KEPT_MS, isOwn });
    readings.set(path, { at: time.monotonic(), marks });
    return marks;
  }

  /**
   * Whether a client runs a rule right now: an open execution's request is gone. The published SDKs cannot beat while they
   * run, so a client that runs a rule is not offline.
   */
  async function isRunning(client: Placed): Promise<boolean> {
    return (await marksOf(pathOf(client))).running;
  }

  return {
    isRunning,

    /** Of clients whose heartbeat stands still, those that run a rule right now. */
    async runningAmong(silent: Client[]): Promise<Client[]> {
      // Those that left without a word long ago may be many.
      const latest = silent.toSorted((a, b) => b.beatAt - a.beatAt).slice(0, READ_AT_MOST);
      const running = await Promise.all(latest.map(isRunning));
      return latest.filter((_, at) => running[at]);
    },

    /** How many executions are open at a client, no matter whose. */
    openAt: async (client: Client): Promise<number> => {
      const path = pathOf(client);
      return Math.max((await marksOf(path)).open, slots.inUse(path));
    },

    /**
     * Of those that may be asked, one with the fewest open executions, by chance: calls one after the other are spread. It counts as
     * chosen for the execution, if one is given.
     */
    async leastBusy(clients: Client[], mayBeAsked: (client: Client) => boolean, mockId?: string) {
      const compared = leastOf(clients, (client) => (mayBeAsked(client) ? rankOf(client) : undefined));
      const marks = compared.length > 1 ? await Promise.all(compared.map(({ path }) => marksOf(path))) : [];
      // From here to the choice nothing is awaited: calls at the same moment must see each other's choices.
      const now = compared.map(({ client, path }, at) => {
        return { client, path, open: slots.ownLoad(path) + (marks[at]?.others ?? 0) };
      });
      const fewest = Math.min(...now.map(({ open }) => open));
      const equals = now.filter(({ open }) => open === fewest);
      const least = equals[Math.floor(random.fraction() * equals.length)];
      if (least && mockId !== undefined) slots.choose(mockId, least.path);
      return least?.client;
    },
  };
}

/** With a thousand clients to compare, even putting paths together takes its time. */
function createPaths(sharedDir: string) {
  const paths = new WeakMap<Placed, string>();
  return function pathOf(client: Placed): string {
    const path = paths.get(client) ?? directoryOfClient(sharedDir, client);
    paths.set(client, path);
    return path;
  };
}

type Ranked = { client: Client; path: string; open: number };

/** A few with the fewest open executions; of equals those that come first from a place by chance. Where enough have none, the others are not read. */
function leastOf(all: readonly Client[], rank: (client: Client) => Ranked | undefined): Ranked[] {
  const from = Math.floor(random.fraction() * all.length);
  const least: Ranked[] = [];
  for (let at = 0; at < all.length; at++) {
    const client = all[(from + at) % all.length];
    const ranked = client && rank(client);
    const last = least.at(-1);
    const isFull = least.length === COMPARED_AT_MOST;
    if (!ranked || (isFull && last && last.open <= ranked.open)) continue;
    if (isFull) least.pop();
    const place = least.findIndex((other) => ranked.open < other.open);
    least.splice(place === -1 ? least.length : place, 0, ranked);
    if (least.length === COMPARED_AT_MOST && least.at(-1)?.open === 0) break;
  }
  return least;
}

type Reading = { fileNow: number; openForMs: number; isOwn: ClientLoadDependencies['isOwn'] };

async function readMarks(path: string, { fileNow, openForMs, isOwn }: Reading): Promise<Marks> {
  const directory = directoryAt(path);
  const names = new Set(await directory.list().catch(() => []));
  const all = [...new Set([...names].flatMap((name) => openExecutionOf(name) ?? []))];
  const isBegun = (mockId: string) => !names.has(requestFileName(mockId)) && !names.has(withdrawnFileName(mockId));
  const begun = all.filter(isBegun);
  const count = { open: all.length, others: all.filter((mockId) => !isOwn(path, mockId)).length };
  for (const mockId of begun) {
    // The marks of a worker that died stay longer than any execution can be open.
    const stats = await directory.stat(openFileName(mockId)).catch(() => null);
    if (stats && fileNow - stats.mtimeMs < openForMs) return { ...count, running: true };
  }
  return { ...count, running: false };
}
