import { type HistoryFilter, timeFilters } from '../../run/history/history-filter.ts';
import { useText } from '../../text/use-text.tsx';

type Props = { label: string; time: HistoryFilter['time']; onTime: (time: HistoryFilter['time']) => void };

/** When the runs began that are meant. */
export function TimeSelect({ label, time, onTime }: Props) {
  const { say } = useText();
  return (
    <select
      aria-label={label}
      value={time}
      onChange={({ target }) => onTime(timeFilters.find((name) => name === target.value) ?? 'any')}
    >
      {timeFilters.map((name) => (
        <option key={name} value={name}>
          {say(`history.when.${name}`)}
        </option>
      ))}
    </select>
  );
}
