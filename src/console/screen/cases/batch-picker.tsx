import { RECORDED_RUNS } from '../../../shared/reasoning/trace/recorded-run.ts';
import type { Batch } from '../../api/batches.ts';
import { useBatches } from '../../cases/use-batch.ts';
import { goTo, type Panel, type Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { countWords } from './batch-bar.tsx';

/** Earlier batches of the rule: those of its cases, of inputs that were given, or of earlier runs that were made again. */
export function BatchPicker({ place }: { place: Place }) {
  const { say, time } = useText();
  const batches = useBatches(place);
  const listed = (batches.data ?? []).filter(
    (batch) => batch.batchId === place.batch || panelOf(batch) === place.panel,
  );
  if (listed.length === 0) return null;
  return (
    <select
      className="batch-picker"
      aria-label={say('batch.earlier')}
      value={listed.some(({ batchId }) => batchId === place.batch) ? (place.batch ?? '') : ''}
      onChange={({ target }) => goTo({ batch: target.value || null, item: null, caseName: null }, { push: true })}
    >
      <option value="">{say('batch.none')}</option>
      {listed.map((batch) => (
        <option key={batch.batchId} value={batch.batchId}>
          {time(batch.createdAt)} · {countWords(batch, say)}
        </option>
      ))}
    </select>
  );
}

function panelOf({ etag, file }: Batch): Panel {
  if (etag !== null) return 'cases';
  return file === RECORDED_RUNS ? 'replay' : 'inputs';
}
