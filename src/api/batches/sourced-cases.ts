import { type Batch, placeOfItem } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { refusals } from '../../shared/contract/endings/refusals.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import type { SavedCases } from '../cases/saved-cases.ts';
import type { BatchRequest } from './read-batch-request.ts';
import { type Refused, refused } from './taken.ts';
import { allCases, allHeads } from './whole-batch.ts';

/** The cases a batch is to run, what holds for it unless the request says otherwise, and the version they are of. */
type Sourced =
  | ({ kind: 'cases'; cases: Case[]; etag: string | null } & Pick<Batch, 'targets' | 'ignore' | 'file' | 'dryRun'>)
  | Refused;

const nothingElse = { targets: ['all'], ignore: [], file: null, dryRun: false, etag: null };

/** Finds the cases that a request names. */
export async function casesOf(
  { app, ruleId, confId, source }: BatchRequest,
  { store, savedCases, privacy }: { store: BatchStore; savedCases: SavedCases; privacy: Privacy },
): Promise<Sourced> {
  switch (source.kind) {
    case 'given':
      return { kind: 'cases', ...nothingElse, cases: source.cases };
    case 'saved': {
      const saved = await savedCases.document({ app, ruleId, confId });
      if (saved.kind === 'refused') return saved;
      const cases = saved.document.cases.map((one) => ({ ...one, ts: one.ts ?? source.ts }));
      return { kind: 'cases', ...nothingElse, cases, ignore: saved.document.ignore, etag: saved.etag };
    }
    case 'from': {
      const found = await store.read(source.batchId);
      if (found === 'gone') return refused(410, refusals.goneBatch(source.batchId));
      if (found?.batch.app !== app) return refused(404, refusals.unknownBatch(source.batchId));
      if (privacy.isOff(app))
        return refused(410, `The cases of batch ${source.batchId} are not kept: HISTORY_OFF names app ${app}.`);
      const wanted = new Set<number>();
      for (const { n, head } of await allHeads(found.batch, store)) {
        if (source.verdicts.includes(head.verdict)) wanted.add(placeOfItem(found.batch, n).caseIndex);
      }
      const cases = (await allCases(found.batch, store)).filter((_, index) => wanted.has(index));
      const { targets, ignore, file, dryRun, etag } = found.batch;
      return { kind: 'cases', cases, targets, ignore, file, dryRun, etag };
    }
  }
}
