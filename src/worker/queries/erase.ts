import type { Claims } from '../files/claims/claims.ts';
import type { SharedDirectory } from '../files/directory/shared-directory.ts';
import { filesOf, removeFiles, removeOpenMark } from '../files/execution-files.ts';
import type { KeptAnswers } from '../files/results/kept-answers.ts';
import { rm } from '../files/seams/files.ts';
import type { Answer } from './answer.ts';

export type Erase = (execution: { mockId: string }) => Promise<Answer>;

type EraseDependencies = {
  claims: Claims;
  keptAnswers: KeptAnswers;
  sharedDir: string;
  sharedDirectory: Pick<SharedDirectory, 'check'>;
};

/**
 * Removes the files of an execution that has ended: its request, its answer, and the answer that is kept for a lost queue
 * store. Its claim stays for its ten minutes: it has no data, and without it the rule could run again.
 */
export function createErase({ claims, keptAnswers, sharedDir, sharedDirectory }: EraseDependencies): Erase {
  return async function erase({ mockId }) {
    try {
      await sharedDirectory.check();
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind === 'claimed') {
        const files = filesOf(sharedDir, decision.claim);
        await removeFiles(files, decision.claim);
        await removeOpenMark(files);
      }
      for (const path of keptAnswers.pathsOf(mockId)) await rm(path, { force: true });
      return { kind: 'found', body: '{}' };
    } catch {
      return { kind: 'pass-on' };
    }
  };
}
