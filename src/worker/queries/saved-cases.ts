import type { Query } from '../../shared/contract/query.ts';
import type { Reading } from '../../shared/rules/reading.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
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
        return found({ items: await caseFiles.list(query.app) });
      case 'saved-cases':
        return textOf(await caseFiles.read(query), 'text');
      case 'save-cases': {
        const saving = await caseFiles.save(query, query);
        if (saving.kind === 'saved') return found({ saved: true });
        if (saving.kind === 'changed') return textOf(saving.reading, 'found');
        return refused(503, 'Another worker is saving these cases. Nothing was changed; try again in a moment.');
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
      const verb = query.ask === 'save-cases' ? 'saved' : 'read';
      return refused(503, `The cases cannot be ${verb} in SHARED_DIR/.rule-server/cases (${errnoOf(error)}).`);
    });
  };
}

function textOf(reading: Reading<string>, member: 'text' | 'found'): Answer {
  if (reading.kind === 'unusable')
    return refused(422, `The file of the saved cases ${reading.reason}. An operator must remove it from SHARED_DIR.`);
  return found({ [member]: reading.kind === 'found' ? reading.value : null });
}

const found = (answer: object): Answer => ({ kind: 'found', body: JSON.stringify(answer) });
const refused = (status: 422 | 503, error: string): Answer => ({ kind: 'refused', status, error });
