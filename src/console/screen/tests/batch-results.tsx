import { useDeferredValue, useMemo, useState } from 'react';
import type { Batch } from '../../api/batches.ts';
import type { SchemaField } from '../../api/browse.ts';
import type { SavedCase } from '../../api/cases.ts';
import { failureOf } from '../../api/request.ts';
import { repeatBatch } from '../../cases/batch-call.ts';
import {
  answersOf,
  type CaseRow,
  type Cell,
  decidingNodes,
  filterRows,
  inputColumns,
  noRowFilter,
  type RowFilter,
  readItemPlace,
  sinceBefore,
} from '../../cases/case-rows.ts';
import { useBatch, useStart } from '../../cases/use-batches.ts';
import { useCaseRows } from '../../cases/use-case-rows.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import { BatchBar, failing } from './batch-bar.tsx';
import { Coverage } from './coverage.tsx';
import { Answers, ResultFilters } from './result-filters.tsx';
import { type Pressed, ResultsTable } from './results-table.tsx';

type Props = {
  place: Place;
  rule: RuleContext;
  input: Input;
  saved: readonly SavedCase[];
  onOpen: (pressed: Pressed) => void;
};

const noFields: readonly SchemaField[] = [];

/** A batch: its answer, how far it is, and its inputs with a column for each target, or the nodes that they reached. */
export function BatchResults({ place, rule, input, saved, onOpen }: Props) {
  const { say, ofService } = useText();
  const fields = rule.schema.data?.fields ?? noFields;
  const followed = useBatch(place.batch);
  const batch = followed?.kind === 'known' ? followed.batch : null;
  const { rows, targets, before, releases } = useCaseRows({ place, batch, saved });
  const [filter, setFilter] = useState<RowFilter>(noRowFilter);
  // Typing goes on while ten thousand rows are sorted.
  const wanted = useDeferredValue(filter);
  const found = useMemo(() => filterRows(rows, wanted), [rows, wanted]);
  const answers = useMemo(() => answersOf(rows), [rows]);
  const nodes = useMemo(() => decidingNodes(rows), [rows]);
  const columns = useMemo(() => inputColumns(rows, fields), [rows, fields]);
  const since = useMemo(
    () => (before === null ? null : { at: before.createdAt, since: sinceBefore(rows), releases }),
    [rows, before, releases],
  );
  const { busy, start, error } = useStart('repeat');
  const { app, ruleId, confId } = place;
  const again = { batchId: place.batch ?? '', verdicts: failing, dryRun: batch?.dryRun ?? true };
  const repeat = {
    runs: useMemo(() => (batch === null ? null : runsOfRepeat(rows, batch)), [rows, batch]),
    busy,
    start: () => void start((key) => repeatBatch({ app: app ?? '', ruleId, confId }, again, key)),
  };
  const item = readItemPlace(place);
  const digest = rule.tree.data?.digest ?? null;
  const isOld = digest !== null && rows.some(({ cells }) => cells.some((cell) => ranOnOthers(cell, digest)));
  const showsNodes = place.nodes && batch !== null;
  const filtering = { filter, onFilter: setFilter };
  return (
    <div className={isOld ? 'batch-results old' : 'batch-results'}>
      <BatchBar place={place} followed={followed} since={since} repeat={repeat} />
      {error && <p className="notice bad">{ofService(failureOf(error))}</p>}
      {isOld && <p className="notice warn">{say('cases.otherRules')}</p>}
      <div className="results-lines">
        <Answers {...{ place, batch, answers, occurrences: rule.occurrences, ...filtering }} />
        {!showsNodes && rows.length > 0 && (
          <ResultFilters
            {...filtering}
            found={found.length}
            all={rows.length}
            lanes={targets.length > 1}
            nodes={nodes}
          />
        )}
      </div>
      {showsNodes ? (
        <Coverage batch={batch} occurrences={rule.occurrences} input={input} />
      ) : (
        <ResultsTable
          rows={found}
          targets={targets}
          columns={columns}
          open={{ batchId: item?.batchId ?? null, n: item ? Number(item.n) : null, name: place.caseName }}
          nothing={say(rows.length === 0 ? (batch === null ? 'cases.none' : 'batch.reading') : 'cases.noMatch')}
          onOpen={onOpen}
        />
      )}
    </div>
  );
}

/** Whether a run is of other rules than these. */
function ranOnOthers(cell: Cell | null, digest: string): boolean {
  const ran = cell?.item.rules?.digest ?? null;
  return ran !== null && ran !== digest;
}

/** A case runs again on each target when it did not pass on one of them. Null until all items are there. */
function runsOfRepeat(rows: readonly CaseRow[], { batchId, items, targets }: Batch): number | null {
  const own = rows.map(({ cells }) => cells.flatMap((cell) => (cell?.batchId === batchId ? [cell.item] : [])));
  if (own.flat().length < items) return null;
  return own.filter((cells) => cells.some(({ verdict }) => failing.includes(verdict))).length * targets.length;
}
