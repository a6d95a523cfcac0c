import { randomUUID } from 'node:crypto';
import type { Telemetry } from 'bullmq';
import { type Database, openDatabase } from '../../store/embedded/file/database.ts';
import { openStore, prepareTables } from '../../store/embedded/file/embedded-store.ts';
import { embeddedStores } from '../../store/embedded/stores/stores.ts';
import { openTables } from '../../store/embedded/stores/tables.ts';
import { createMemoryDirectory } from '../../store/registered-directory.ts';
import type { Message, QueueBackend } from '../queue-backend.ts';
import { createMemoryWorkerRegistry } from '../worker-registry.ts';
import { createEmbeddedReplies } from './replies.ts';
import { createSqliteQueues } from './sqlite-queue.ts';

/**
 * The folder of the embedded queue store. `tell` is called with one sentence for each event that an operator should know. `flush`: whether
 * accepted calls survive a power failure.
 */
export type EmbeddedFolder = { folder: string; flush: boolean; tell: (sentence: string) => void };

/** The queue store inside this process: in memory, or in a folder that the next process finds again. */
export async function openEmbedded(telemetry: Telemetry | undefined, kept?: EmbeddedFolder): Promise<QueueBackend> {
  const { database, openTable, where, full, close } = await (kept ? openKept(kept) : openInMemory());
  const run = randomUUID();
  return {
    where,
    inTime: (reply) => reply, // slow at the worst: it is away only when the whole process is
    lastActivity: () => performance.now(),
    connected: Promise.resolve(),
    examined: Promise.resolve(undefined),
    probe: () => database.read(() => void database.statement('SELECT 1').get()),
    full,
    run: { last: () => run, ask: async () => run },
    ...{ workers: createMemoryWorkerRegistry(), directory: createMemoryDirectory() },
    ...embeddedStores(openTable),
    ...createSqliteQueues({ database, telemetry, replies: createEmbeddedReplies() }),
    ...createBroadcasts(),
    isShared: false,
    close,
  };
}

async function openInMemory() {
  const database: Database = openDatabase();
  await prepareTables(database);
  return {
    database,
    openTable: openTables(database),
    where: 'embedded, in the memory of this process',
    full: () => null,
    close: async () => database.close(),
  };
}

async function openKept({ folder, flush, tell }: EmbeddedFolder) {
  const { room, ...store } = await openStore({ folder, flush, tell });
  return { ...store, where: `embedded, in ${folder}`, full: room.full };
}

/** Messages to all who listen, in the memory of the process, which is where all of them are. */
function createBroadcasts(): Pick<QueueBackend, 'openSender' | 'listen'> {
  const channels = new Map<string, { kept: Message[]; listeners: Set<(message: unknown) => void> }>();
  const channelOf = (name: string) => {
    const known = channels.get(name) ?? { kept: [], listeners: new Set() };
    channels.set(name, known);
    return known;
  };
  return {
    openSender(name, maxKept) {
      const channel = channelOf(name);
      return {
        async send(message) {
          channel.kept = [...channel.kept, message].slice(-maxKept);
          for (const listener of [...channel.listeners]) listener(message);
        },
        close: async () => {},
      };
    },
    listen(name, onMessage, { fromStart = false } = {}) {
      const channel = channelOf(name);
      const { listeners } = channel;
      const begun = setImmediate(() => {
        if (fromStart) for (const message of channel.kept) onMessage(message);
        listeners.add(onMessage);
      });
      return {
        async close() {
          clearImmediate(begun);
          listeners.delete(onMessage);
        },
      };
    },
  };
}
