import type { Query } from '../../shared/contract/query.ts';
import { savedCasesListSchema } from '../../shared/contract/saved-cases.ts';
import { printAs } from '../../shared/contract/wire.ts';
import type { Reading } from '../../shared/rules/reading.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { refused } from '../../shared/runtime/http-refusals.ts';
import type { CaseFiles } from '../cases/case-files.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { Answer } from './answer.ts';

type Asked = Extract<Query, { ask: 'saved-cases' | 'save-cases' | 'list-saved-cases' }>;
export type AnswerSavedCases = (query: Asked) => Promise<Answer>;

type SavedCasesDependencies = { caseFiles: CaseFiles; sharedDirectory: SharedDirectory };

/** Reads and saves cases. A worker whose shared directory cannot be used leaves the question to another one. */
export function createSavedCases({ caseFiles, sharedDirectory }: SavedCasesDependencies): AnswerSavedCases {
  async function answer(query: Asked): Promise<Answer> {
    switch (query.ask) {
      case 'list-saved-cases':
        return {
          kind: 'found',
          body: printAs(savedCasesListSchema, { items: await caseFiles.list(query.app), nextCursor: null }),
        };
      case 'saved-cases':
        return textOf(await caseFiles.read(query), 'text');
      case 'save-cases': {
        const saving = await caseFiles.save(query, query);
        if (saving.kind === 'saved') return found({ saved: true });
        if (saving.kind === 'changed') return textOf(saving.reading, 'found');
        return refused('cases-being-saved', {});
      }
    }
  }

  return async function answerSavedCases(query) {
    try {
      await sharedDirectory.check();
    } catch {
      return { kind: 'pass-on' };
    }
    return answer(query).catch((error) => {
      const code = query.ask === 'save-cases' ? 'cases-unwritable' : 'cases-unreadable';
      return refused(code, { why: errnoOf(error) || 'internal' });
    });
  };
}

function textOf(reading: Reading<string>, member: 'text' | 'found'): Answer {
  if (reading.kind === 'unusable') return refused('cases-file-unusable', reading.fault);
  return found({ [member]: reading.kind === 'found' ? reading.value : null });
}

const found = (answer: object): Answer => ({ kind: 'found', body: JSON.stringify(answer) });
