import { type Batch, placeOfItem } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import type { SetAside } from '../../shared/cases/document/refusal.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { type RecordedRun, recordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import type { LeftOut } from '../../shared/reasons/remarks.ts';
import { type Refused, refused } from '../../shared/runtime/http-refusals.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import { noneSaved, type SavedCases } from '../cases/saved-cases.ts';
import type { Executions } from '../executions/executions.ts';
import type { BatchRequest } from './read-batch-request.ts';
import { allCases, allHeads } from './whole-batch.ts';

/** The cases a batch is to run, what holds for it unless the request says otherwise, and the version they are of. */
type Sourced =
  | ({ kind: 'cases'; cases: Case[]; setAside?: SetAside; etag: string | null } & Pick<
      Batch,
      'targets' | 'ignore' | 'file' | 'dryRun' | 'against'
    >)
  | Refused;

/** Inputs of earlier runs belong to customers: their effects are not repeated unless the request says so. */
export const RECORDED = 'recorded';
/** How many executions are read at once. */
const READ_AT_ONCE = 50;

const nothingElse = { targets: ['all'], ignore: [], file: null, dryRun: false, etag: null };

type Sources = {
  store: BatchStore;
  savedCases: SavedCases;
  privacy: Privacy;
  executions: Pick<Executions, 'get'>;
};

/** Finds the cases that a request names. */
export async function casesOf(
  { app, ruleId, confId, ts, source, ignore, setAside: mistaken }: BatchRequest,
  { store, savedCases, privacy, executions }: Sources,
): Promise<Sourced> {
  const timed = (cases: readonly Case[]) => cases.map((one) => ({ ...one, ts: one.ts ?? ts }));
  switch (source.kind) {
    case 'given': {
      // The faults quote values, so they are not kept; the caller has got them.
      const setAside = { cases: mistaken.cases, errors: [] };
      return { kind: 'cases', ...nothingElse, cases: timed(source.cases), ...(setAside.cases > 0 && { setAside }) };
    }
    case 'saved': {
      const saved = await savedCases.document({ app, ruleId, confId });
      if (saved.kind === 'refused') return saved;
      if (saved.kind === 'none') return { kind: 'refused', ...noneSaved({ app, ruleId, confId }) };
      const { cases, ignore } = saved.document;
      return { kind: 'cases', ...nothingElse, cases: timed(cases), ignore, etag: saved.etag };
    }
    case 'recorded': {
      const saved = ignore === null ? await savedCases.document({ app, ruleId, confId }) : null;
      if (saved?.kind === 'refused') return saved;
      const ofSaved = saved?.kind === 'document' && { ignore: saved.document.ignore };
      const how = { ...nothingElse, dryRun: true, against: RECORDED, ...ofSaved };
      return { kind: 'cases', ...how, ...(await recordedCases(source.mockIds, { app, ruleId, ts }, executions)) };
    }
    case 'from': {
      const found = await store.read(source.batchId);
      if (found === 'gone') return refused('batch-gone', { batchId: source.batchId });
      if (found?.batch.app !== app) return refused('unknown-batch', { batchId: source.batchId });
      if (privacy.isOff(app)) return refused('batch-not-kept', { batchId: source.batchId, app });
      const heads = await allHeads(found.batch, store);
      const wanted = heads.filter(({ head }) => source.verdicts.includes(head.verdict));
      const places = new Set(wanted.map(({ n }) => placeOfItem(found.batch, n).caseIndex));
      const cases = (await allCases(found.batch, store)).filter((_, index) => places.has(index));
      const { targets, ignore, file, etag, against } = found.batch;
      const dryRun = found.batch.dryRun || against === RECORDED;
      return { kind: 'cases', cases, targets, ignore, file, dryRun, etag, ...(against && { against }) };
    }
  }
}

/** Earlier runs as cases, each compared with the run that it repeats; what cannot be made again is set aside, by reasons. */
async function recordedCases(
  mockIds: readonly string[],
  { app, ruleId, ts }: Pick<BatchRequest, 'app' | 'ruleId' | 'ts'>,
  executions: Pick<Executions, 'get'>,
): Promise<{ cases: Case[]; setAside?: SetAside }> {
  const runs: (RecordedRun | LeftOut)[] = [];
  for (let first = 0; first < mockIds.length; first += READ_AT_ONCE) {
    const page = mockIds.slice(first, first + READ_AT_ONCE);
    for (const found of await Promise.all(page.map((mockId) => executions.get(mockId)))) {
      const isOfRule = found !== null && found.record.app === app && found.record.ruleId === ruleId;
      runs.push(isOfRule ? recordedRun({ ...found.record, ...found }) : 'not-of-rule');
    }
  }
  const left = runs.filter((run) => typeof run === 'string');
  const errors = [...Map.groupBy(left, (why) => why)].map(([why, { length }]) =>
    problemAt('recorded', 'left-out', { count: length, why }),
  );
  const cases = runs.flatMap((run) => (typeof run === 'string' ? [] : caseOfRun(run, ts)));
  return { cases, ...(left.length > 0 && { setAside: { cases: left.length, errors } }) };
}

function caseOfRun({ mockId, input, ts: ranAsOf }: RecordedRun, ts: string | null): Case {
  return { name: mockId, of: mockId, input, ts: ts ?? ranAsOf, tags: [], skip: false, line: null, expect: null };
}
