import type { createRedisBackend } from 'bullmq';
import { time } from '../seams/time.ts';
import { wasRefused } from './store-error.ts';

const AGAIN_AFTER_MS = 100;
/** As long as a worker keeps its locks without renewing them. */
const GIVES_UP_AFTER_MS = 5000;
/** Redis did nothing, and will do it elsewhere or soon: its role or its slots are just changing. */
const PASSING = /^(READONLY|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|LOADING|NOREPLICAS)\b/;

/**
 * Makes a worker send a command again that Redis refused while a fail-over or the move of a slot is under way. BullMQ would
 * take it for the end of its job: an answer that is there would wait until the lock lapses and another worker finds it.
 */
export function repeatRefused(backend: ReturnType<typeof createRedisBackend>, isPatient: boolean): void {
  if (!isPatient) return;
  const execute = backend.execCommand.bind(backend);
  backend.execCommand = async (client, name, parameters) => {
    const until = time.monotonic() + GIVES_UP_AFTER_MS;
    for (;;) {
      try {
        return await execute(client, name, parameters);
      } catch (error) {
        if (!isPassing(error) || time.monotonic() > until) throw error;
        await time.pause(AGAIN_AFTER_MS);
      }
    }
  };
}

function isPassing(error: unknown): boolean {
  return error instanceof Error && wasRefused(error) && PASSING.test(error.message);
}
