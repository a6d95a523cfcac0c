import { join } from 'node:path';
import { resultWithin } from '../../shared/runtime/at-most.ts';
import { persistOrThrow } from '../../shared/runtime/persist.ts';
import { readRedisAddress } from '../../shared/runtime/settings/redis-address.ts';
import { BadSettings, readSettings } from '../../shared/runtime/settings/settings.ts';
import { type KeptKey, readKeptKeys } from '../../shared/store/embedded/file/kept-keys.ts';
import type { Notes } from '../../shared/store/notes/notes.ts';
import { openQueueBackend } from '../../shared/store/queue/open-queue-backend.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { sharedDirOf } from './shared-dir.ts';

export type MoveKeysOptions = { sharedDir?: string };

const CONNECT_WITHIN_MS = 5000;

/**
 * Puts the Idempotency-Keys of the store of "rule-server all" into Redis, with their answers, so that a call that is repeated after the move
 * runs nothing again. What is left behind is said. A key that Redis knows already stays as it is there.
 */
export async function moveKeys({ sharedDir }: MoveKeysOptions, { environment, stdout }: Surroundings): Promise<number> {
  const settings = readSettings(environment);
  const address = await readRedisAddress(settings);
  if (!address) throw new CommandFailed('Say with REDIS_URL where the keys go.', exitCodes.usage);
  const folder = join(sharedDirOf(sharedDir, { environment }), '.rule-server/store');
  const kept = readUnused(folder);
  if (kept === null)
    throw new CommandFailed(`There is no store in ${folder}: say with --shared-dir where it is.`, exitCodes.usage);
  const backend = await openQueueBackend(address);
  try {
    const isThere = backend.connected.then(() => true);
    if (!(await resultWithin(CONNECT_WITHIN_MS, { of: isThere, late: () => false })))
      throw new CommandFailed(`${backend.where} does not answer. Nothing was moved.`, exitCodes.unreachable);
    const { executions, batches } = kept.left;
    stdout.write(
      `Stays behind in ${folder}: ${executions} executions of the history, and ${batches} batches. Saved cases are in the shared directory and stay.\n`,
    );
    const moved = await putAll(kept.keys, backend.openNotes(settings.IDEMPOTENCY_BYTES));
    const unknown = kept.keys.filter(({ isUnknown }) => isUnknown).length;
    stdout.write(
      `${moved} of ${kept.keys.length} keys are in ${backend.where} now: a call that is repeated under one of them runs nothing again. ${unknown} of them had not ended, and are answered outcome-unknown.\n`,
    );
    return moved === kept.keys.length ? exitCodes.ok : exitCodes.failed;
  } finally {
    await backend.close();
  }
}

function readUnused(folder: string): ReturnType<typeof readKeptKeys> {
  try {
    return readKeptKeys(folder);
  } catch (error) {
    if (error instanceof BadSettings) throw new CommandFailed(error.message, exitCodes.usage);
    throw error;
  }
}

/** Resolves to how many of the keys are there now. */
async function putAll(keys: readonly KeptKey[], notes: Notes): Promise<number> {
  let there = 0;
  for (const { key, text, answer } of keys) {
    // The connection of notes is one of its own, and may not be there yet.
    const put = await persistOrThrow(Date.now() + CONNECT_WITHIN_MS, () => notes.put(key, text, 0));
    if (put.kind === 'full') break;
    // It is not due any more: it says how its call ended.
    if (put.kind === 'put') await notes.change(key, text, text, answer === null ? {} : { answer });
    there++;
  }
  return there;
}
