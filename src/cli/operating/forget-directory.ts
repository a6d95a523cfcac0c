import { z } from 'zod';
import { queueNames } from '../../shared/contract/queue-names.ts';
import { openQueueBackend } from '../../shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { resultWithin } from '../../shared/runtime/async.ts';
import { readRedisAddress } from '../../shared/runtime/settings/redis-address.ts';
import { LOCAL_REDIS, readSettings } from '../../shared/runtime/settings/settings.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

const CONNECT_WITHIN_MS = 5000;

const headSchema = z.object({ claimBy: z.int() });

/**
 * Unregisters the shared directory of a queue; the next worker that starts registers its own. Claims are in the old directory, so this
 * waits for every execution that could begin a second time in another one.
 */
export async function forgetDirectory(_options: unknown, { environment, stdout }: Surroundings): Promise<number> {
  const address = await readRedisAddress(readSettings(environment), LOCAL_REDIS);
  const backend = await openQueueBackend(address);
  try {
    const isThere = backend.connected.then(() => true);
    if (!(await resultWithin(CONNECT_WITHIN_MS, { of: isThere, late: () => false })))
      throw new CommandFailed(`${backend.where} does not answer. Nothing was changed.`, exitCodes.unreachable);
    const id = await backend.directory.get();
    if (id === null) {
      stdout.write('No shared directory is registered: the next worker that starts registers its own.\n');
      return exitCodes.ok;
    }
    await refuseWhileUsed(backend, id);
    await backend.directory.forget();
    stdout.write(
      `${id} is forgotten: the next worker that starts registers its own SHARED_DIR. Start all workers again.\n`,
    );
    return exitCodes.ok;
  } finally {
    await backend.close();
  }
}

async function refuseWhileUsed(backend: QueueBackend, id: string): Promise<void> {
  // A worker that waits for the right directory would register its present one.
  if ((await backend.workers.read()).size > 0)
    throw new CommandFailed(
      `Workers run that use the directory ${id}, or wait for it: stop all workers first (one that died counts for 5 s). Nothing was changed.`,
      exitCodes.failed,
    );
  const queue = backend.openQueue(queueNames.executions);
  try {
    const jobs = await queue.readShort(await queue.listOpen());
    const open = jobs
      .map((job) => (headSchema.safeParse(job?.head).data?.claimBy ?? 0) - Date.now())
      .filter((ms) => ms > 0);
    if (open.length === 0) return;
    throw new CommandFailed(
      `${open.length} executions may have begun in the directory ${id}, and could begin again in another one: try again in ${Math.ceil(Math.max(...open) / 1000)} s. Nothing was changed.`,
      exitCodes.failed,
    );
  } finally {
    await queue.close();
  }
}
