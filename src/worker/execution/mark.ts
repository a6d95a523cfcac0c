import { errnoOf } from '../../shared/runtime/errno.ts';
import { markOpen } from '../files/execution-files.ts';
import type { Wait } from './wait.ts';

/** Marks the execution as open, unless its directory is missing: the next listing sees that. */
export async function markAsOpen(wait: Wait): Promise<void> {
  try {
    await markOpen(wait.files);
    wait.mark = 'written';
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error;
    wait.mark = 'failed';
  }
}
