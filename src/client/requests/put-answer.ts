import { setTimeout as sleep } from 'node:timers/promises';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { replaceFile } from '../replace-file.ts';

const TRY_AGAIN_MS = 250;

type Patience = {
  /** How long it is tried. */
  forMs: number;
  /** Called with the first failure. */
  onError: (error: unknown) => void;
};

/**
 * Puts an answer in place. The rule ran, and will not run again, so a file server that is away just now is waited for. Rejects
 * when it did not come back in time.
 */
export async function putAnswer(
  path: string,
  mockId: string,
  text: string,
  { forMs, onError }: Patience,
): Promise<void> {
  const until = performance.now() + forMs;
  for (let failures = 0; ; failures++) {
    try {
      return await replaceFile(path, text);
    } catch (error) {
      if (performance.now() >= until) throw error;
      if (failures === 0) onError(new Error(`the answer to ${mockId} cannot be put in place yet`, { cause: error }));
    }
    await sleep(TRY_AGAIN_MS);
  }
}

type Failed = { mockId: string; executeAt: number; error: string; data?: string; process?: string; isDry?: boolean };

/** The result of a request that cannot be run, or of a run that blocks its client. `data`, `process`: their JSON, as far as it is known. */
export const printFailed = ({
  mockId,
  executeAt,
  error,
  data = '{}',
  process = 'null',
  isDry = false,
}: Failed): string =>
  joinMembers([
    ['mockId', JSON.stringify(mockId)],
    ['success', 'false'],
    [DATA_FIELD, data],
    ['process', process],
    ['error', JSON.stringify(error)],
    ['executeAt', String(executeAt)],
    ...(isDry ? [['dryRun', 'true'] as [string, string]] : []),
  ]);
