import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';
import { openGate } from '../simulator/world/gate.ts';
import { createSimulatedBackend } from '../simulator/world/simulated-queue.ts';
import { createStore } from '../simulator/world/store.ts';
import { borrowDatabase } from './shared-redis.ts';

/** Each opens an empty queue store; undefined where the machine has none of its kind. */
export const queueStores: Record<string, () => Promise<QueueBackend | undefined>> = {
  'on Redis': onRedis,
  'in this process': () => openQueueBackend(undefined),
  'in a file': inFile,
  /** One process in a simulated world without faults, in real time. */
  'in the simulator': async () => createSimulatedBackend({ process: 'one', gate: openGate(createStore()) }),
};

async function inFile(): Promise<QueueBackend> {
  const root = await mkdtemp(join(tmpdir(), 'queue-'));
  const kept = { folder: join(root, 'store'), flush: true, tell: () => {} };
  const backend = await openQueueBackend(undefined, undefined, kept);
  const close = async () => {
    await backend.close();
    await rm(root, { recursive: true, force: true });
  };
  return { ...backend, close };
}

async function onRedis(): Promise<QueueBackend | undefined> {
  const database = await borrowDatabase();
  if (!database) return undefined;
  const backend = await openQueueBackend(database.url);
  await backend.connected;
  const close = async () => {
    await backend.close();
    await database.stop();
  };
  return { ...backend, close };
}
