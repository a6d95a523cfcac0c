import { type HistoryFilter, noFilter, printFilter } from '../../run/history/history-filter.ts';
import { useText } from '../../text/use-text.tsx';
import { SearchField } from './search-field.tsx';
import { TimeSelect } from './time-select.tsx';

type Props = { filter: HistoryFilter; onFilter: (filter: HistoryFilter) => void };

/** Which of the earlier runs are shown: by a word of their input or client, by result, by time, of every rule. */
export function HistoryFilters({ filter, onFilter }: Props) {
  const { say } = useText();
  const change = (part: Partial<HistoryFilter>) => {
    const next = { ...filter, ...part };
    onFilter(printFilter(next) === null ? noFilter : next);
  };
  return (
    <div className="history-filters" role="search" aria-label={say('history.filter')}>
      <SearchField text={filter.text} onText={(text) => change({ text })} />
      <TimeSelect label={say('history.time')} time={filter.time} onTime={(time) => change({ time })} />
      <label className="switch">
        <input
          type="checkbox"
          checked={filter.everyRule}
          onChange={({ target }) => change({ everyRule: target.checked })}
        />
        {say('history.everyRule')}
      </label>
    </div>
  );
}
