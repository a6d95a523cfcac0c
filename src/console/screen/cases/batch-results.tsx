import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import type { Batch } from '../../api/batches.ts';
import type { SchemaField } from '../../api/browse.ts';
import type { SavedCase } from '../../api/cases.ts';
import {
  type CaseRow,
  decidingNodes,
  filterRows,
  noRowFilter,
  outcomeCounts,
  type RowFilter,
  sinceBefore,
} from '../../cases/case-rows.ts';
import { repeatBatch } from '../../cases/inputs/batch-call.ts';
import { inputColumns } from '../../cases/inputs/input-columns.ts';
import { readItemPlace } from '../../cases/item-place.ts';
import { useBatch } from '../../cases/use-batch.ts';
import { useCaseRows } from '../../cases/use-case-rows.ts';
import { useStart } from '../../cases/use-start.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { BatchBar, failing } from './batch-bar.tsx';
import { ResultFilters } from './result-filters.tsx';
import { type Pressed, ResultsTable } from './results-table.tsx';

type Props = {
  place: Place;
  /** The keys that the rule reads, as far as they are known. */
  fields: readonly SchemaField[] | undefined;
  saved?: readonly SavedCase[];
  /** The part above the table, made of the batch and its rows. */
  above?: (batch: Batch, rows: readonly CaseRow[]) => ReactNode;
  onOpen: (pressed: Pressed) => void;
  children?: ReactNode;
};

const noFields: readonly SchemaField[] = [];
const noCases: readonly SavedCase[] = [];

/** A batch: how far it is, and its cases with a column for each target. */
export function BatchResults({ place, fields = noFields, saved = noCases, above, onOpen, children }: Props) {
  const { say, ofService } = useText();
  const followed = useBatch(place.batch);
  const batch = followed?.kind === 'known' ? followed.batch : null;
  const { rows, targets, before, releases } = useCaseRows({ place, batch, saved });
  const [filter, setFilter] = useState<RowFilter>(noRowFilter);
  // Typing goes on while ten thousand rows are sorted.
  const wanted = useDeferredValue(filter);
  const found = useMemo(() => filterRows(rows, wanted), [rows, wanted]);
  const outcomes = useMemo(() => outcomeCounts(rows), [rows]);
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
  return (
    <div className="batch-results">
      <BatchBar place={place} followed={followed} since={since} outcomes={outcomes} repeat={repeat} />
      {error && <p className="notice bad">{ofService(error.message)}</p>}
      {batch && above?.(batch, rows)}
      <div className="results-tools">
        <ResultFilters
          filter={filter}
          onFilter={setFilter}
          found={found.length}
          all={rows.length}
          lanes={targets.length > 1}
          outcomes={outcomes}
          nodes={nodes}
        />
        {children}
      </div>
      <ResultsTable
        rows={found}
        targets={targets}
        columns={columns}
        open={{ batchId: item?.batchId ?? null, n: item ? Number(item.n) : null, name: place.caseName }}
        nothing={say(rows.length === 0 ? (batch === null ? 'cases.none' : 'batch.reading') : 'cases.noMatch')}
        onOpen={onOpen}
      />
    </div>
  );
}

/** A case runs again on each target when it did not pass on one of them. Null until all items are there. */
function runsOfRepeat(rows: readonly CaseRow[], { batchId, items, targets }: Batch): number | null {
  const own = rows.map(({ cells }) => cells.flatMap((cell) => (cell?.batchId === batchId ? [cell.item] : [])));
  if (own.flat().length < items) return null;
  return own.filter((cells) => cells.some(({ verdict }) => failing.includes(verdict))).length * targets.length;
}
