import type { Batch } from '../../api/batches.ts';
import { useBatches } from '../../cases/use-batch.ts';
import { goTo, type Place } from '../../state/location.ts';
import { formatTime } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { countWords } from './batch-bar.tsx';

/** Earlier batches of the rule: those of its cases, or of inputs that were given. */
export function BatchPicker({ place }: { place: Place }) {
  const { say, language } = useText();
  const batches = useBatches(place);
  const isOfCases = ({ etag }: Batch) => etag !== null;
  const listed = (batches.data ?? []).filter(
    (batch) => batch.batchId === place.batch || isOfCases(batch) === (place.panel === 'cases'),
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
          {formatTime(batch.createdAt, language, Date.now())} · {countWords(batch, say)}
        </option>
      ))}
    </select>
  );
}
