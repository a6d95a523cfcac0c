import type { EraseAnswer, Query } from '../../shared/contract/query.ts';
import { PASS_ON_WITHIN_MS } from '../execution/begin.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { Mailbox } from '../files/mailbox.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { Answer } from './answer.ts';

export type Erase = (execution: Pick<Asked, 'mockId' | 'hasEnded'>) => Promise<Answer>;

type Asked = Extract<Query, { ask: 'erase' }>;
type EraseDependencies = {
  claims: Claims;
  mailbox: Mailbox;
  sharedDirectory: Pick<SharedDirectory, 'check' | 'clock'>;
};

/**
 * Removes the files of an execution that has ended: its request and its answer, kept or not. Its claim stays for its ten minutes: it has no data, and
 * without it the rule could run again. An API whose store has no record of it does not know whether it has ended: another service may serve
 * the same directory, or the store lost its data. Then the claim must be over.
 */
export function createErase({ claims, mailbox, sharedDirectory }: EraseDependencies): Erase {
  return async function erase({ mockId, hasEnded }) {
    try {
      await sharedDirectory.check();
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind === 'claimed') {
        const { claim } = decision;
        const isOver = hasEnded || sharedDirectory.clock.isPast(claim.answerBy + PASS_ON_WITHIN_MS);
        if (!isOver && ((await mailbox.hasAny(claim)) || (await mailbox.hasKept(claim)))) return answer('open');
        await mailbox.remove(claim);
        await mailbox.removeMark(claim);
      }
      await mailbox.forgetKept(mockId);
      return answer('erased');
    } catch {
      return { kind: 'pass-on' };
    }
  };
}

const answer = (files: EraseAnswer['files']): Answer => ({ kind: 'found', body: JSON.stringify({ files }) });
