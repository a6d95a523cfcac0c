import { z } from 'zod';
import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import type { Once } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { time } from '../../shared/ports/time.ts';
import type { AskWorker } from '../ask-worker.ts';

/** A worker answers within this time, or the caller is told that it is not known. */
const ANSWERED_WITHIN_MS = 1000;

/** `fenced`: no worker can begin that execution any more. `claimed`: a worker has begun it. `unknown`: no worker could tell. */
type Fenced = 'fenced' | 'claimed' | 'unknown';

const fenceAnswer = z.object({ decision: z.enum(['fenced', 'claimed']) });

type FenceRequestDependencies = { ask: AskWorker['ask']; onFenced: (outcome: Fenced) => void };

export type Fence = ReturnType<typeof createFenceRequest>;

/** Has a worker write a refusal in the place of a claim, so that an execution that may be on its way cannot begin any more. */
export function createFenceRequest({ ask, onFenced }: FenceRequestDependencies) {
  async function askForIt(mockId: string, claimBy: number, once?: Once): Promise<Fenced> {
    if (claimMayBeSwept(claimBy, time.isPast)) return 'unknown';
    const reply = await ask({ v: QUERY_VERSION, ask: 'fence', mockId, claimBy, once }, ANSWERED_WITHIN_MS);
    if (reply.kind === 'refused') return 'unknown';
    return fenceAnswer.safeParse(parseJson(reply.body)).data?.decision ?? 'unknown';
  }

  /** `once`: of a keyed call, whose key an earlier execution may hold that the queue store has forgotten. */
  return async function fence(mockId: string, claimBy: number, once?: Once): Promise<Fenced> {
    const outcome = await askForIt(mockId, claimBy, once);
    onFenced(outcome);
    return outcome;
  };
}
