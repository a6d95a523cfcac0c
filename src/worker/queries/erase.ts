import type { EraseAnswer, Query } from '../../shared/contract/query.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { PASS_ON_WITHIN_MS } from '../execution/begin.ts';
import type { Claims } from '../files/claims/claims.ts';
import { filesOf, hasAny, type KeptAnswers, removeFiles, removeOpenMark } from '../files/mailbox.ts';
import { access, rm } from '../files/ports/files.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { Answer } from './answer.ts';

export type Erase = (execution: Pick<Asked, 'mockId' | 'hasEnded'>) => Promise<Answer>;

type Asked = Extract<Query, { ask: 'erase' }>;
type EraseDependencies = {
  claims: Claims;
  keptAnswers: KeptAnswers;
  sharedDir: string;
  sharedDirectory: Pick<SharedDirectory, 'check' | 'clock'>;
};

/**
 * Removes the files of an execution that has ended: its request, its answer, and the answer that is kept for a lost queue
 * store. Its claim stays for its ten minutes: it has no data, and without it the rule could run again. An API whose store has no record of
 * it does not know whether it has ended: another service may serve the same directory, or the store lost its data. Then the claim must be over.
 */
export function createErase({ claims, keptAnswers, sharedDir, sharedDirectory }: EraseDependencies): Erase {
  const isKept = async (mockId: string) => {
    const looks = keptAnswers.pathsOf(mockId).map((path) => access(path).then(() => true, unless('ENOENT')));
    return (await Promise.all(looks)).includes(true);
  };

  return async function erase({ mockId, hasEnded }) {
    try {
      await sharedDirectory.check();
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind === 'claimed') {
        const files = filesOf(sharedDir, decision.claim);
        const isOver = hasEnded || sharedDirectory.clock.isPast(decision.claim.answerBy + PASS_ON_WITHIN_MS);
        if (!isOver && ((await hasAny(files, decision.claim)) || (await isKept(mockId)))) return answer('open');
        await removeFiles(files, decision.claim);
        await removeOpenMark(files);
      }
      for (const path of keptAnswers.pathsOf(mockId)) await rm(path, { force: true });
      return answer('erased');
    } catch {
      return { kind: 'pass-on' };
    }
  };
}

const answer = (files: EraseAnswer['files']): Answer => ({ kind: 'found', body: JSON.stringify({ files }) });
